import java.util.List;

/** One SDK's client. Its methods return what the SDK handed out and throw what it threw, errors included. */
interface Driver {
	List<Observation> discover(String agentUrl, String binding) throws Exception;

	Observation send(Turn turn) throws Exception;

	/** Returns when the stream has ended; each event is handed on before the next is read. */
	void stream(Turn turn, Step on) throws Throwable;

	Observation get(String task) throws Exception;

	Observation cancel(String task) throws Exception;

	Observation setPush(String task, String url, String token) throws Exception;

	Observation getPush(String task, String config) throws Exception;

	List<Observation> listPush(String task) throws Exception;

	void deletePush(String task, String config) throws Exception;

	/** What is done about an event. */
	interface Step {
		void see(Observation event) throws Exception;
	}
}
