/**
 * What a client says to an agent. Task and context are null for a message that continues none, webhook for one that
 * wants no notifications; now asks for an answer before the task has ended.
 */
record Turn(String text, String task, String context, boolean now, String webhook, String token) {
	static Turn of(String text) {
		return new Turn(text, null, null, false, null, null);
	}

	static Turn within(Observation asked, String text) {
		return new Turn(text, asked.text("task"), asked.text("context"), false, null, null);
	}
}
