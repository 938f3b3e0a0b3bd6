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

func call(session *mcp.ClientSession, name string, args json.RawMessage) map[string]any {
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	var refusal *jsonrpc.Error
	if errors.As(err, &refusal) {
		return map[string]any{"code": refusal.Code, "data": refusal.Data}
	}
	if err != nil {
		return map[string]any{"raised": err.Error()}
	}
	var texts strings.Builder
	for _, block := range result.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			texts.WriteString(text.Text)
		}
	}
	return map[string]any{"text": texts.String(), "structured": result.StructuredContent, "isError": result.IsError}
}

func client(calls string, words []string) error {
	ctx := context.Background()
	var transport mcp.Transport = &mcp.CommandTransport{Command: exec.Command(words[0], words[1:]...)}
	if strings.HasPrefix(words[0], "http") {
		transport = &mcp.StreamableClientTransport{Endpoint: words[0]}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "go-sdk-client"}, nil).Connect(ctx, transport, nil)
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
	version := session.InitializeResult().ProtocolVersion
	// A struct, so that `version` comes first.
	return json.NewEncoder(os.Stdout).Encode(struct {
		Version string         `json:"version"`
		Tools   []string       `json:"tools"`
		Calls   map[string]any `json:"calls"`
	}{version, names, answers})
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
