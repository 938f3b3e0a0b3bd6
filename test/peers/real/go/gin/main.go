// A tool in Gin, with its defaults: the router prints its routes before the server listens.
package main

import (
	"log"
	"net"
	"net/http"

	"example.test/tools/rap"
	"github.com/gin-gonic/gin"
)

func main() {
	router := gin.Default()
	router.GET("/.well-known/rap-toolset", func(c *gin.Context) {
		c.JSON(http.StatusOK, rap.Toolset("gin-tool", "http://"+c.Request.Host+"/invoke"))
	})
	router.POST("/invoke", func(c *gin.Context) {
		var invocation rap.Invocation
		if err := c.ShouldBindJSON(&invocation); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		go rap.Deliver(invocation)
		c.Status(http.StatusOK)
	})
	for _, notice := range []string{"/close_thread", "/cancel_tool_call"} {
		router.POST(notice, func(c *gin.Context) { c.Status(http.StatusOK) })
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	rap.Announce(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(router.RunListener(listener))
}
