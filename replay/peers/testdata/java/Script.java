import java.util.List;

/**
 * A client program's way through everything that the agent can do, the same as in the other languages. It prints what
 * it saw, one JSON object per line.
 */
final class Script {
	private final Driver driver;
	private final String webhook;

	private Script(Driver driver, String webhook) {
		this.driver = driver;
		this.webhook = webhook;
	}

	/** Runs the program: AGENT-URL BINDING WEBHOOK-URL. */
	static void main(Driver driver, String[] args) {
		int code = 0;
		try {
			new Script(driver, args[2]).play(args[0], args[1]);
		} catch (Throwable broken) {
			broken.printStackTrace();
			code = 1;
		}
		System.exit(code); // the SDK's HTTP client has threads of its own
	}

	private void play(String agentUrl, String binding) throws Exception {
		for (Observation seen : driver.discover(agentUrl, binding)) {
			note("discover", seen);
		}
		answer("message", () -> driver.send(Turn.of("hello")));
		Observation ended = answer("task", () -> driver.send(Turn.of("work")));
		stream("stream", Turn.of("stream"), event -> {
			if ("artifact".equals(event.text("kind")) && !event.is("last")) {
				release("stream", event.text("task"));
			}
		});
		polling();
		multiTurn();
		stream("fail", Turn.of("fail"), event -> {});
		canceling();
		pushing();
		Turn inline = new Turn("work", null, null, false, webhook + "/inline", "inline-token");
		answer("push inline", () -> driver.send(inline));
		answer("get unknown", () -> driver.get("no-such-task"));
		answer("cancel ended", () -> driver.cancel(ended.text("task")));
	}

	private void polling() throws Exception {
		Observation started = driver.send(new Turn("poll", null, null, true, null, null));
		String task = started.text("task");
		note("poll", new Observation("task").with("task", task).with("context", started.text("context")));
		poll(task, "working");
		release("poll", task);
		poll(task, "completed");
	}

	/** Asks for a task until its state is the wanted one. How often that takes is chance: only the last is noted. */
	private void poll(String task, String state) throws Exception {
		Observation now = driver.get(task);
		while (!now.inState(state)) {
			Thread.sleep(10);
			now = driver.get(task);
		}
		note("poll", now);
	}

	private void multiTurn() throws Exception {
		Observation asked = answer("multi-turn", () -> driver.send(Turn.of("ask")));
		answer("multi-turn", () -> driver.send(Turn.within(asked, "blue")));
	}

	/** Cancels a task while watching it. The answer is noted before the rest of the stream, so their order is fixed. */
	private void canceling() throws Exception {
		boolean[] canceled = {false};
		stream("cancel", Turn.of("wait"), event -> {
			if (!canceled[0] && event.inState("working")) {
				canceled[0] = true;
				answer("cancel answer", () -> driver.cancel(event.text("task")));
			}
		});
	}

	/** The task rests at input-required meanwhile, so that no event of its own comes in between. */
	private void pushing() throws Exception {
		Observation asked = answer("push", () -> driver.send(Turn.of("ask")));
		String task = asked.text("task");
		Observation made = answer("push set", () -> driver.setPush(task, webhook + "/deleted", "deleted-token"));
		String config = made.text("config");
		answer("push get", () -> driver.getPush(task, config));
		answers("push list", () -> driver.listPush(task));
		answer("push delete", () -> {
			driver.deletePush(task, config);
			return new Observation("done");
		});
		answers("push list", () -> driver.listPush(task));
		answer("push", () -> driver.send(Turn.within(asked, "blue")));
	}

	private void release(String step, String task) throws Exception {
		answer(step + " release", () -> driver.send(Turn.of("release " + task)));
	}

	private void stream(String step, Turn turn, Driver.Step on) throws Exception {
		try {
			driver.stream(turn, event -> {
				note(step, event);
				on.see(event);
			});
		} catch (Throwable error) {
			noteError(step, error);
			return;
		}
		note(step, new Observation("done"));
	}

	private interface Request<T> {
		T make() throws Exception;
	}

	/** Notes the answer, or the error in its place, and returns what can be gone on with. */
	private Observation answer(String step, Request<Observation> request) throws Exception {
		Observation answer;
		try {
			answer = request.make();
		} catch (Throwable error) { // whatever the SDK throws is what its user sees
			noteError(step, error);
			return new Observation("error");
		}
		note(step, answer);
		return answer;
	}

	private void answers(String step, Request<List<Observation>> request) throws Exception {
		List<Observation> answers;
		try {
			answers = request.make();
		} catch (Throwable error) {
			noteError(step, error);
			return;
		}
		note(step, new Observation("list").with("note", "of " + answers.size()));
		for (Observation one : answers) {
			note(step, one);
		}
	}

	/** The SDK wraps what the agent answered, so its cause is noted with it. */
	private void noteError(String step, Throwable error) throws Exception {
		String code = error.getClass().getSimpleName();
		if (error.getCause() != null) {
			code += "/" + error.getCause().getClass().getSimpleName();
		}
		note(step, new Observation("error").with("code", code).with("text", error.getMessage()));
	}

	private void note(String step, Observation seen) throws Exception {
		System.out.println(seen.with("step", step).json());
	}
}
