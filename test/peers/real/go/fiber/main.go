// A tool in Fiber, with its defaults: it prints a banner, and answers 413 to a body of over 4 MiB before it was sent.
package main

import (
	"log"
	"net"

	"example.test/tools/rap"
	"github.com/gofiber/fiber/v3"
)

func main() {
	app := fiber.New()
	app.Get("/.well-known/rap-toolset", func(c fiber.Ctx) error {
		return c.JSON(rap.Toolset("fiber-tool", c.BaseURL()+"/invoke"))
	})
	app.Post("/invoke", func(c fiber.Ctx) error {
		var invocation rap.Invocation
		if err := c.Bind().JSON(&invocation); err != nil {
			return c.Status(fiber.StatusBadRequest).SendString(err.Error())
		}
		go rap.Deliver(invocation)
		return c.Send(nil)
	})
	for _, notice := range []string{"/close_thread", "/cancel_tool_call"} {
		app.Post(notice, func(c fiber.Ctx) error { return c.Send(nil) })
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	app.Hooks().OnListen(func(fiber.ListenData) error {
		rap.Announce(listener.Addr().(*net.TCPAddr).Port)
		return nil
	})
	log.Fatal(app.Listener(listener))
}
