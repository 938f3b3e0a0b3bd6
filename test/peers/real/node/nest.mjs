/** A tool in NestJS on Express; its decorators are called as functions, so that nothing has to be compiled. */
import 'reflect-metadata';
import { Body, Controller, Get, HttpCode, Module, Post, Req } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { announce, deliver } from './deliver.mjs';
import { toolset } from './operations.mjs';

class ToolController {
  discovery(request) {
    return toolset('nest-tool', `http://${request.headers.host}/invoke`);
  }

  invoke(invocation) {
    deliver(invocation);
  }

  closeThread() {}

  cancelToolCall() {}
}

const method = (name, ...decorators) => {
  const descriptor = Object.getOwnPropertyDescriptor(ToolController.prototype, name);
  for (const decorate of decorators) decorate(ToolController.prototype, name, descriptor);
};
method('discovery', Get('.well-known/rap-toolset'));
Req()(ToolController.prototype, 'discovery', 0);
method('invoke', Post('invoke'), HttpCode(200));
Body()(ToolController.prototype, 'invoke', 0);
method('closeThread', Post('close_thread'), HttpCode(200));
method('cancelToolCall', Post('cancel_tool_call'), HttpCode(200));
Controller()(ToolController);

class ToolModule {}
Module({ controllers: [ToolController] })(ToolModule);

const app = await NestFactory.create(ToolModule);
await app.listen(0, '127.0.0.1');
announce(app.getHttpServer().address().port);
