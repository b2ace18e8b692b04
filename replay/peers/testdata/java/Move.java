import java.util.List;
import java.util.Map;

/** One thing that an agent does about a text, the same as in the other languages. States are spelled as in A2A 0.3. */
record Move(String does, String text, boolean append, boolean last) {
	private static final Map<String, List<Move>> TABLE = Map.of(
			"work", List.of(of("open"), of("working"), product("done", false, true), of("completed")),
			"stream", List.of(of("open"), of("working"), product("one", false, false), of("pause"),
					product(" two", true, false), of("pause"), product(" three", true, true), of("completed")),
			"poll", List.of(of("open"), of("working"), of("pause"), product("polled", false, true), of("completed")),
			"ask", List.of(of("open"), new Move("input-required", "which colour?", false, false)),
			"wait", List.of(of("open"), of("working"), of("hold")),
			"fail", List.of(of("open"), of("working"), new Move("failed", "out of paint", false, false)),
			"release", List.of(new Move("say", "released", false, false)));

	private static Move of(String does) {
		return new Move(does, "", false, false);
	}

	private static Move product(String text, boolean append, boolean last) {
		return new Move("produce", text, append, last);
	}

	/** Returns the moves for a text. A task that has been asked back about takes any text for an answer. */
	static List<Move> of(String text, boolean answered) {
		if (answered) {
			return List.of(product("colour: " + text, false, true), of("completed"));
		}
		List<Move> moves = TABLE.get(text.split(" ")[0]);
		return moves != null ? moves : List.of(new Move("say", "you said " + text, false, false));
	}
}
