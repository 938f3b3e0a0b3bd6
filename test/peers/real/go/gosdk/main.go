// A server and a client on MCP's Go SDK, with its defaults: `gosdk stdio | http | client <calls> <url | program argument…>`.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type Name struct {
	Name string `json:"name"`
}

type Numbers struct {
	A int `json:"a"`
	B int `json:"b"`
}

type Sum struct {
	Sum int `json:"sum"`
}

type Nothing struct{}

func text(value string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: value}}}
}

func ask(ctx context.Context, request *mcp.CallToolRequest, _ Nothing) (*mcp.CallToolResult, any, error) {
	schema := map[string]any{"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}}
	answer, err := request.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Which colour?", RequestedSchema: schema})
	if err != nil {
		return nil, nil, err
	}
	return text(fmt.Sprintf("%s: %v", answer.Action, answer.Content["colour"])), nil, nil
}

func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "go-sdk-peer"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "greet"},
		func(_ context.Context, _ *mcp.CallToolRequest, args Name) (*mcp.CallToolResult, any, error) {
			return text("Hello, " + args.Name), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "sum"},
		func(_ context.Context, _ *mcp.CallToolRequest, args Numbers) (*mcp.CallToolResult, Sum, error) {
			return nil, Sum{args.A + args.B}, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "fail"},
		func(context.Context, *mcp.CallToolRequest, Nothing) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New("disk full")
		})
	mcp.AddTool(server, &mcp.Tool{Name: "refuse"},
		func(context.Context, *mcp.CallToolRequest, Nothing) (*mcp.CallToolResult, any, error) {
			return nil, nil, &jsonrpc.Error{Code: -32050, Message: "not today", Data: json.RawMessage(`{"until":"tomorrow"}`)}
		})
	mcp.AddTool(server, &mcp.Tool{Name: "crash"},
		func(context.Context, *mcp.CallToolRequest, Nothing) (*mcp.CallToolResult, any, error) {
			panic("the peer falls over")
		})
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, ask)
	return server
}

func serveHTTP() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("{\"port\":%d}\n", listener.Addr().(*net.TCPAddr).Port)
	server := newServer()
	return http.Serve(listener, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
}

func failure(err error) map[string]any {
	var refusal *jsonrpc.Error
	if errors.As(err, &refusal) {
		return map[string]any{"code": refusal.Code, "data": refusal.Data}
	}
	return map[string]any{"raised": err.Error()}
}

func call(session *mcp.ClientSession, name string, args json.RawMessage) map[string]any {
	meta := mcp.Meta{"progressToken": name, "io.modelcontextprotocol/logLevel": "debug"}
	params := &mcp.CallToolParams{Meta: meta, Name: name, Arguments: args}
	result, err := session.CallTool(context.Background(), params)
	if err != nil {
		return failure(err)
	}
	var texts strings.Builder
	for _, block := range result.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			texts.WriteString(text.Text)
		}
	}
	return map[string]any{"text": texts.String(), "structured": result.StructuredContent, "isError": result.IsError}
}

type notifications chan string

// The first notifications, which may be handled after the result of their call was returned.
func (heard notifications) take(count int) []string {
	taken := []string{}
	for len(taken) < count {
		select {
		case each := <-heard:
			taken = append(taken, each)
		case <-time.After(10 * time.Second):
			return taken
		}
	}
	return taken
}

func (heard notifications) handlers() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"colour": "red"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			heard <- fmt.Sprintf("progress %v of %v: %s", request.Params.Progress, request.Params.Total, request.Params.Message)
		},
		LoggingMessageHandler: func(_ context.Context, request *mcp.LoggingMessageRequest) {
			heard <- fmt.Sprintf("%s: %v", request.Params.Level, request.Params.Data)
		},
	}
}

func client(calls string, words []string) error {
	ctx := context.Background()
	heard := make(notifications, 100)
	var transport mcp.Transport = &mcp.CommandTransport{Command: exec.Command(words[0], words[1:]...)}
	if strings.HasPrefix(words[0], "http") {
		transport = &mcp.StreamableClientTransport{Endpoint: words[0]}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "go-sdk-client"}, heard.handlers()).Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	names := []string{}
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	toMake := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(calls), &toMake); err != nil {
		return err
	}
	answers := map[string]any{}
	for name, args := range toMake {
		answers[name] = call(session, name, args)
	}
	notified := []string{}
	if _, isNotified := toMake["work"]; isNotified {
		notified = heard.take(2)
	}
	var unknown map[string]any
	if _, err := session.ListResources(ctx, nil); err != nil {
		unknown = failure(err)
	}
	version := session.InitializeResult().ProtocolVersion
	// A struct, so that `version` comes first.
	return json.NewEncoder(os.Stdout).Encode(struct {
		Version  string         `json:"version"`
		Tools    []string       `json:"tools"`
		Calls    map[string]any `json:"calls"`
		Notified []string       `json:"notified"`
		Unknown  map[string]any `json:"unknown"`
	}{version, names, answers, notified, unknown})
}

func main() {
	var err error
	switch os.Args[1] {
	case "stdio":
		err = newServer().Run(context.Background(), &mcp.StdioTransport{})
	case "http":
		err = serveHTTP()
	case "client":
		err = client(os.Args[2], os.Args[3:])
	}
	if err != nil {
		log.Fatal(err)
	}
}
