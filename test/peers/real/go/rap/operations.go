// Package rap has what every tool of this module shares: operations, their toolset, and the delivery of results.
package rap

import (
	"encoding/json"
	"fmt"
)

// Invocation is the message that a runtime posts.
type Invocation struct {
	Operation       string          `json:"operation"`
	Arguments       json.RawMessage `json:"arguments"`
	ID              string          `json:"id"`
	CallID          *string         `json:"call_id"`
	CallbackURL     string          `json:"callback_url"`
	GroupID         string          `json:"group_id"`
	ThreadAncestors []string        `json:"thread_ancestors"`
	UserID          *string         `json:"user_id"`
}

// Result is a tool_result.
type Result struct {
	Type      string    `json:"type"`
	GroupID   string    `json:"group_id"`
	ID        string    `json:"id"`
	CallID    *string   `json:"call_id,omitempty"`
	Text      string    `json:"text"`
	DisplayAs []Segment `json:"display_as,omitempty"`
}

// Segment is one way to show a result.
type Segment struct {
	Type    string `json:"type"`
	Content any    `json:"content"`
}

type object = map[string]any

// Toolset describes the operations.
func Toolset(name, endpoint string) object {
	text := object{"type": "string"}
	readOnly := object{"readOnly": true}
	schema := func(properties object, required ...string) object {
		if required == nil {
			required = []string{}
		}
		return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	return object{"name": name, "endpoint": endpoint, "tools": []object{
		{"name": "echo", "description": "Returns the text.", "annotations": readOnly,
			"inputSchema": schema(object{"text": text}, "text")},
		{"name": "preview_edit", "description": "Shows how a file would change. Changes nothing.", "annotations": readOnly,
			"inputSchema": schema(object{"path": text, "line": object{"type": "integer", "minimum": 1}}, "path")},
		{"name": "unavailable", "description": "Always fails, as an API that limits its rate.", "annotations": readOnly,
			"inputSchema": schema(object{})},
	}}
}

func (invocation Invocation) result() Result {
	result := Result{Type: "tool_result", GroupID: invocation.GroupID, ID: invocation.ID, CallID: invocation.CallID}
	var err error
	switch invocation.Operation {
	case "echo":
		result.Text, err = echo(invocation.Arguments)
	case "preview_edit":
		result.Text, result.DisplayAs, err = previewEdit(invocation.Arguments)
	case "unavailable":
		err = decode(invocation.Arguments, &struct{}{})
		result.Text = "Error: API rate limit exceeded. Retry after 60 seconds."
	default:
		result.Text = "Error: unknown operation. Available: echo, preview_edit, unavailable."
	}
	if err != nil {
		result.Text = fmt.Sprintf("Error: invalid arguments: %v. Correct them and call again.", err)
	}
	return result
}

func echo(raw json.RawMessage) (string, error) {
	var arguments struct{ Text *string }
	if err := decode(raw, &arguments); err != nil {
		return "", err
	}
	if arguments.Text == nil {
		return "", fmt.Errorf("text is missing")
	}
	return *arguments.Text, nil
}

func previewEdit(raw json.RawMessage) (string, []Segment, error) {
	var arguments struct {
		Path *string
		Line *int
	}
	if err := decode(raw, &arguments); err != nil {
		return "", nil, err
	}
	line := 1
	if arguments.Line != nil {
		line = *arguments.Line
	}
	if arguments.Path == nil || line < 1 {
		return "", nil, fmt.Errorf("path is missing, or line is less than 1")
	}
	path := *arguments.Path
	patch := fmt.Sprintf("--- %s\n+++ %s\n@@ -%d +%d @@\n-old\n+new\n", path, path, line, line)
	return fmt.Sprintf("Would replace line %d of %s", line, path), []Segment{
		{"diff", object{"path": path, "patch": patch}},
		{"text", "1 line would change"},
	}, nil
}
