import io.a2a.A2A;
import io.a2a.client.ClientBuilder;
import io.a2a.client.ClientEvent;
import io.a2a.client.MessageEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.http.A2AHttpClient;
import io.a2a.client.http.JdkA2AHttpClient;
import io.a2a.client.transport.grpc.GrpcTransport;
import io.a2a.client.transport.grpc.GrpcTransportConfigBuilder;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfigBuilder;
import io.a2a.client.transport.rest.RestTransport;
import io.a2a.client.transport.rest.RestTransportConfigBuilder;
import io.a2a.spec.A2AClientException;
import io.a2a.spec.AgentCard;
import io.a2a.spec.AgentInterface;
import io.a2a.spec.DeleteTaskPushNotificationConfigParams;
import io.a2a.spec.GetTaskPushNotificationConfigParams;
import io.a2a.spec.ListTaskPushNotificationConfigParams;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.PushNotificationConfig;
import io.a2a.spec.Task;
import io.a2a.spec.TaskArtifactUpdateEvent;
import io.a2a.spec.TaskIdParams;
import io.a2a.spec.TaskPushNotificationConfig;
import io.a2a.spec.TaskQueryParams;
import io.a2a.spec.TaskStatus;
import io.a2a.spec.TaskStatusUpdateEvent;
import io.a2a.spec.TextPart;
import io.grpc.Channel;
import io.grpc.ManagedChannelBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BiConsumer;

/** The client of the a2a-java-sdk 0.3.x, over JSON-RPC, HTTP+JSON and gRPC. */
final class Client implements Driver {
	private final A2AHttpClient http = new JdkA2AHttpClient();
	private AgentCard card;
	private String binding;
	private Channel channel; // of gRPC
	private io.a2a.client.Client once;

	public static void main(String[] args) {
		Script.main(new Client(), args);
	}

	@Override
	public List<Observation> discover(String agentUrl, String binding) throws Exception {
		this.binding = binding;
		card = A2A.getAgentCard(http, agentUrl);
		once = client(false, false, null);
		List<Observation> seen = new ArrayList<>();
		seen.add(new Observation("card").with("text", card.name()).with("note", card.protocolVersion()));
		seen.add(new Observation("interface").with("note", card.preferredTransport()).with("url", card.url()));
		for (AgentInterface i : orNone(card.additionalInterfaces())) {
			seen.add(new Observation("interface").with("note", i.transport()).with("url", i.url()));
		}
		return seen;
	}

	/** How a message is sent is a matter of a client's configuration in this SDK. */
	private io.a2a.client.Client client(boolean streaming, boolean now, PushNotificationConfig push)
			throws A2AClientException {
		ClientBuilder builder = io.a2a.client.Client.builder(card).clientConfig(new ClientConfig.Builder()
				.setStreaming(streaming).setPolling(now).setPushNotificationConfig(push).build());
		if (binding.equals("JSONRPC")) {
			builder.withTransport(JSONRPCTransport.class, new JSONRPCTransportConfigBuilder().httpClient(http));
		} else if (binding.equals("GRPC")) {
			builder.withTransport(GrpcTransport.class, new GrpcTransportConfigBuilder().channelFactory(this::connect));
		} else {
			builder.withTransport(RestTransport.class, new RestTransportConfigBuilder().httpClient(http));
		}
		return builder.build();
	}

	private Channel connect(String address) {
		if (channel == null) {
			channel = ManagedChannelBuilder.forTarget(address).usePlaintext().build();
		}
		return channel;
	}

	private static Message message(Turn turn) {
		return A2A.createUserTextMessage(turn.text(), turn.context(), turn.task());
	}

	@Override
	public Observation send(Turn turn) throws Exception {
		PushNotificationConfig push = turn.webhook() == null ? null
				: new PushNotificationConfig.Builder().url(turn.webhook()).token(turn.token()).build();
		List<ClientEvent> answers = new ArrayList<>();
		List<BiConsumer<ClientEvent, AgentCard>> consumers = List.of((event, from) -> answers.add(event));
		client(false, turn.now(), push).sendMessage(message(turn), consumers, null);
		return see(answers.get(0));
	}

	/** The SDK leaves a stream after the final status, unless its end has come first. Both are its end here. */
	@Override
	public void stream(Turn turn, Step on) throws Throwable {
		BlockingQueue<Optional<ClientEvent>> events = new LinkedBlockingQueue<>(); // an empty one is the end
		Throwable[] broken = {null};
		List<BiConsumer<ClientEvent, AgentCard>> consumers = List.of((event, from) -> events.add(Optional.of(event)));
		client(true, false, null).sendMessage(message(turn), consumers, error -> {
			broken[0] = error; // null at a good end
			events.add(Optional.empty());
		});
		for (Optional<ClientEvent> e = events.take(); e.isPresent(); e = events.take()) {
			Observation event = see(e.get());
			on.see(event);
			if (event.is("final")) {
				return;
			}
		}
		if (broken[0] != null) {
			throw broken[0];
		}
	}

	@Override
	public Observation get(String task) throws Exception {
		return see(once.getTask(new TaskQueryParams(task)));
	}

	@Override
	public Observation cancel(String task) throws Exception {
		return see(once.cancelTask(new TaskIdParams(task)));
	}

	@Override
	public Observation setPush(String task, String url, String token) throws Exception {
		PushNotificationConfig config =
				new PushNotificationConfig.Builder().id("peer-hook").url(url).token(token).build();
		return see(once.setTaskPushNotificationConfiguration(new TaskPushNotificationConfig(task, config)));
	}

	@Override
	public Observation getPush(String task, String config) throws Exception {
		return see(once.getTaskPushNotificationConfiguration(new GetTaskPushNotificationConfigParams(task, config)));
	}

	@Override
	public List<Observation> listPush(String task) throws Exception {
		return once.listTaskPushNotificationConfigurations(new ListTaskPushNotificationConfigParams(task)).stream()
				.map(Client::see).toList();
	}

	@Override
	public void deletePush(String task, String config) throws Exception {
		once.deleteTaskPushNotificationConfigurations(new DeleteTaskPushNotificationConfigParams(task, config));
	}

	private static Observation see(ClientEvent event) {
		if (event instanceof MessageEvent e) {
			Message m = e.getMessage();
			return new Observation("message").with("text", texts(m.getParts())).with("task", m.getTaskId())
					.with("context", m.getContextId());
		}
		if (event instanceof TaskEvent e) {
			return see(e.getTask());
		}
		Object update = ((TaskUpdateEvent) event).getUpdateEvent();
		if (update instanceof TaskStatusUpdateEvent e) {
			return see("status", e.getStatus()).with("final", e.isFinal()).with("task", e.getTaskId())
					.with("context", e.getContextId());
		}
		TaskArtifactUpdateEvent e = (TaskArtifactUpdateEvent) update;
		return new Observation("artifact").with("text", texts(e.getArtifact().parts())).with("append", e.isAppend())
				.with("last", e.isLastChunk()).with("task", e.getTaskId()).with("context", e.getContextId())
				.with("artifact", e.getArtifact().artifactId());
	}

	private static Observation see(Task task) {
		return see("task", task.getStatus())
				.with("artifacts", orNone(task.getArtifacts()).stream().map(a -> texts(a.parts())).toList())
				.with("history", orNone(task.getHistory()).size())
				.with("task", task.getId()).with("context", task.getContextId());
	}

	private static Observation see(String kind, TaskStatus status) {
		Observation seen = new Observation(kind).with("state", status.state().asString());
		return status.message() == null ? seen : seen.with("text", texts(status.message().getParts()));
	}

	private static Observation see(TaskPushNotificationConfig value) {
		PushNotificationConfig config = value.pushNotificationConfig();
		return new Observation("config").with("task", value.taskId()).with("config", config.id())
				.with("url", config.url()).with("note", config.token());
	}

	private static String texts(List<Part<?>> parts) {
		StringBuilder text = new StringBuilder();
		for (Part<?> part : orNone(parts)) {
			if (part instanceof TextPart t) {
				text.append(t.getText());
			}
		}
		return text.toString();
	}

	private static <T> List<T> orNone(List<T> list) {
		return list == null ? List.of() : list;
	}
}
