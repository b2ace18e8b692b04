import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;

/** One thing that a client saw. Its fields are those that the Go type of the same name has in JSON. */
final class Observation {
	private static final ObjectMapper JSON = new ObjectMapper();

	private final Map<String, Object> fields = new LinkedHashMap<>();

	Observation(String kind) {
		with("kind", kind);
	}

	/** Sets a field, unless there is nothing to say. */
	Observation with(String name, Object value) {
		if (value != null) {
			fields.put(name, value);
		}
		return this;
	}

	/** Returns a field that holds text, or null. */
	String text(String name) {
		return (String) fields.get(name);
	}

	boolean is(String name) {
		return Boolean.TRUE.equals(fields.get(name));
	}

	boolean inState(String state) {
		String now = text("state");
		return now != null && now.toLowerCase().endsWith(state);
	}

	String json() throws JsonProcessingException {
		return JSON.writeValueAsString(fields);
	}
}
