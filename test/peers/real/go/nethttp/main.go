// A tool on Go's net/http. With STRICT=1 it refuses unknown members of an invocation.
package main

import (
	"encoding/json"
	"log"
	"net"
	"net/http"
	"os"

	"example.test/tools/rap"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /.well-known/rap-toolset", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(rap.Toolset("net-http-tool", "http://"+r.Host+"/invoke"))
	})
	http.HandleFunc("POST /invoke", invoke)
	for _, notice := range []string{"POST /close_thread", "POST /cancel_tool_call"} {
		http.HandleFunc(notice, func(http.ResponseWriter, *http.Request) {})
	}
	rap.Announce(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, nil))
}

func invoke(w http.ResponseWriter, r *http.Request) {
	var invocation rap.Invocation
	decoder := json.NewDecoder(r.Body)
	if os.Getenv("STRICT") != "" {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(&invocation); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	go rap.Deliver(invocation)
}
