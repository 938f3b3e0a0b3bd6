package rap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"time"
)

func decode(raw json.RawMessage, into any) error {
	if len(raw) == 0 || raw[0] != '{' {
		return fmt.Errorf("arguments must be an object")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

var client = &http.Client{
	Timeout:       10 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Deliver posts the result of an invocation: again after a 5xx or a lost connection, with growing pauses.
func Deliver(invocation Invocation) {
	if invocation.CallbackURL == "" || invocation.ID == "" {
		return
	}
	body, err := json.Marshal(invocation.result())
	if err != nil {
		log.Print(err)
		return
	}
	for pause := 100 * time.Millisecond; pause < 5*time.Second; pause *= 2 {
		response, err := client.Post(invocation.CallbackURL, "application/json", bytes.NewReader(body))
		if err == nil {
			response.Body.Close()
			if response.StatusCode < 500 {
				return
			}
		}
		time.Sleep(pause)
	}
	log.Print("could not deliver a result")
}

// Announce prints the line that says on which port the tool listens.
func Announce(port int) {
	fmt.Printf("{\"port\":%d}\n", port)
}
