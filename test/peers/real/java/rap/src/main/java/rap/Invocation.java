package rap;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** The message that a runtime posts. */
public record Invocation(
    String operation,
    JsonNode arguments,
    String id,
    @JsonProperty("call_id") String callId,
    @JsonProperty("callback_url") String callbackUrl,
    @JsonProperty("group_id") String groupId,
    @JsonProperty("thread_ancestors") List<String> threadAncestors,
    @JsonProperty("user_id") String userId) {}
