package rap;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The operations that every tool of this build offers. */
public final class Operations {
  private static final Map<String, Object> TEXT = Map.of("type", "string");

  private Operations() {}

  public static Map<String, Object> toolset(String name, String endpoint) {
    return Map.of("name", name, "endpoint", endpoint, "tools", List.of(
        tool("echo", "Returns the text.", Map.of("text", TEXT), "text"),
        tool("preview_edit", "Shows how a file would change. Changes nothing.",
            Map.of("path", TEXT, "line", Map.of("type", "integer", "minimum", 1)), "path"),
        tool("unavailable", "Always fails, as an API that limits its rate.", Map.of())));
  }

  private static Map<String, Object> tool(
      String name, String description, Map<String, Object> properties, String... required) {
    return Map.of("name", name, "description", description, "annotations", Map.of("readOnly", true),
        "inputSchema", Map.of("type", "object", "properties", properties, "required", List.of(required),
            "additionalProperties", false));
  }

  /** The tool_result of an invocation. */
  static Map<String, Object> result(Invocation invocation) {
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("type", "tool_result");
    message.put("group_id", invocation.groupId());
    message.put("id", invocation.id());
    if (invocation.callId() != null) message.put("call_id", invocation.callId());
    try {
      message.putAll(answer(invocation));
    } catch (IllegalArgumentException problem) {
      message.put("text", "Error: " + problem.getMessage() + ". Correct the call and send it again.");
    }
    return message;
  }

  private static Map<String, Object> answer(Invocation invocation) {
    JsonNode arguments = invocation.arguments();
    String operation = invocation.operation() == null ? "" : invocation.operation();
    switch (operation) {
      case "echo":
        return Map.of("text", text(only(arguments, "text"), "text"));
      case "unavailable":
        only(arguments);
        return Map.of("text", "Error: API rate limit exceeded. Retry after 60 seconds.");
      case "preview_edit":
        return previewEdit(only(arguments, "path", "line"));
      default:
        throw new IllegalArgumentException("unknown operation; available: echo, preview_edit, unavailable");
    }
  }

  private static Map<String, Object> previewEdit(JsonNode arguments) {
    String path = text(arguments, "path");
    JsonNode given = arguments.get("line");
    if (given != null && (!given.isIntegralNumber() || given.asLong() < 1)) {
      throw new IllegalArgumentException("line must be a positive integer");
    }
    long line = given == null ? 1 : given.asLong();
    String patch = "--- %s\n+++ %s\n@@ -%d +%d @@\n-old\n+new\n".formatted(path, path, line, line);
    return Map.of("text", "Would replace line %d of %s".formatted(line, path), "display_as", List.of(
        Map.of("type", "diff", "content", Map.of("path", path, "patch", patch)),
        Map.of("type", "text", "content", "1 line would change")));
  }

  private static JsonNode only(JsonNode arguments, String... names) {
    if (arguments == null || !arguments.isObject()) throw new IllegalArgumentException("arguments must be an object");
    arguments.fieldNames().forEachRemaining(name -> {
      if (!Set.of(names).contains(name)) throw new IllegalArgumentException("an argument is not known");
    });
    return arguments;
  }

  private static String text(JsonNode arguments, String name) {
    JsonNode value = arguments.get(name);
    if (value == null || !value.isTextual()) throw new IllegalArgumentException(name + " must be a string");
    return value.asText();
  }
}
