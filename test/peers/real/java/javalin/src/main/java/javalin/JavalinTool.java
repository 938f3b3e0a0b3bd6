package javalin;

import io.javalin.Javalin;
import rap.Delivery;
import rap.Invocation;
import rap.Operations;

/** A tool in Javalin, with its defaults: Jackson refuses unknown members of an invocation. */
public class JavalinTool {
  public static void main(String[] args) {
    Javalin app = Javalin.create()
        .get("/.well-known/rap-toolset", ctx -> ctx.json(Operations.toolset("javalin-tool", "http://" + ctx.host() + "/invoke")))
        .post("/invoke", ctx -> Delivery.start(ctx.bodyAsClass(Invocation.class)))
        .post("/close_thread", ctx -> {})
        .post("/cancel_tool_call", ctx -> {})
        .start("127.0.0.1", 0);
    System.out.println("{\"port\":" + app.port() + "}");
  }
}
