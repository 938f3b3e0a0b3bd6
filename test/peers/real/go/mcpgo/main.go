// A server and a client on mcp-go, with its defaults: `mcpgo stdio | http | client <calls> <url | program argument…>`.
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
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type Numbers struct {
	A int `json:"a"`
	B int `json:"b"`
}

type Sum struct {
	Sum int `json:"sum"`
}

func newServer() *server.MCPServer {
	peer := server.NewMCPServer("mcp-go-peer", "1", server.WithElicitation())
	peer.AddTool(mcp.NewTool("greet", mcp.WithString("name", mcp.Required())),
		func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("Hello, " + request.GetString("name", "")), nil
		})
	peer.AddTool(mcp.NewTool("sum", mcp.WithInputSchema[Numbers](), mcp.WithOutputSchema[Sum]()),
		mcp.NewStructuredToolHandler(func(_ context.Context, _ mcp.CallToolRequest, args Numbers) (Sum, error) {
			return Sum{args.A + args.B}, nil
		}))
	peer.AddTool(mcp.NewTool("fail"),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("disk full")
		})
	peer.AddTool(mcp.NewTool("ask"),
		func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			schema := map[string]any{"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}}
			request := mcp.ElicitationRequest{Params: mcp.ElicitationParams{Message: "Which colour?", RequestedSchema: schema}}
			answer, err := peer.RequestElicitation(ctx, request)
			if err != nil {
				return nil, err
			}
			content, _ := answer.Content.(map[string]any)
			return mcp.NewToolResultText(fmt.Sprintf("%s: %v", answer.Action, content["colour"])), nil
		})
	return peer
}

func serveHTTP() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("{\"port\":%d}\n", listener.Addr().(*net.TCPAddr).Port)
	return http.Serve(listener, server.NewStreamableHTTPServer(newServer()))
}

func call(peer *client.Client, name string, args any) map[string]any {
	request := mcp.CallToolRequest{}
	request.Params.Name = name
	request.Params.Arguments = args
	result, err := peer.CallTool(context.Background(), request)
	if err != nil {
		return map[string]any{"raised": err.Error()}
	}
	var texts strings.Builder
	for _, block := range result.Content {
		if text, ok := mcp.AsTextContent(block); ok {
			texts.WriteString(text.Text)
		}
	}
	return map[string]any{"text": texts.String(), "structured": result.StructuredContent, "isError": result.IsError}
}

func connect(words []string) (*client.Client, error) {
	if !strings.HasPrefix(words[0], "http") {
		return client.NewStdioMCPClient(words[0], nil, words[1:]...)
	}
	peer, err := client.NewStreamableHttpClient(words[0])
	if err != nil {
		return nil, err
	}
	return peer, peer.Start(context.Background())
}

func runClient(calls string, words []string) error {
	ctx := context.Background()
	peer, err := connect(words)
	if err != nil {
		return err
	}
	defer peer.Close()
	initialize := mcp.InitializeRequest{}
	initialize.Params.ClientInfo = mcp.Implementation{Name: "mcp-go-client", Version: "1"}
	started, err := peer.Initialize(ctx, initialize)
	if err != nil {
		return err
	}
	listed, err := peer.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return err
	}
	names := []string{}
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	toMake := map[string]map[string]any{}
	if err := json.Unmarshal([]byte(calls), &toMake); err != nil {
		return err
	}
	answers := map[string]any{}
	for name, args := range toMake {
		answers[name] = call(peer, name, args)
	}
	// A struct, so that `version` comes first.
	return json.NewEncoder(os.Stdout).Encode(struct {
		Version string         `json:"version"`
		Tools   []string       `json:"tools"`
		Calls   map[string]any `json:"calls"`
	}{started.ProtocolVersion, names, answers})
}

func main() {
	var err error
	switch os.Args[1] {
	case "stdio":
		err = server.ServeStdio(newServer())
	case "http":
		err = serveHTTP()
	case "client":
		err = runClient(os.Args[2], os.Args[3:])
	}
	if err != nil {
		log.Fatal(err)
	}
}
