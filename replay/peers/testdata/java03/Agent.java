import com.sun.net.httpserver.HttpServer;
import io.a2a.server.AgentCardValidator;
import io.a2a.server.agentexecution.AgentExecutor;
import io.a2a.server.agentexecution.RequestContext;
import io.a2a.server.events.EventQueue;
import io.a2a.server.events.InMemoryQueueManager;
import io.a2a.server.requesthandlers.DefaultRequestHandler;
import io.a2a.server.requesthandlers.RequestHandler;
import io.a2a.server.tasks.BasePushNotificationSender;
import io.a2a.server.tasks.InMemoryPushNotificationConfigStore;
import io.a2a.server.tasks.InMemoryTaskStore;
import io.a2a.server.tasks.PushNotificationConfigStore;
import io.a2a.spec.AgentCapabilities;
import io.a2a.spec.AgentCard;
import io.a2a.spec.AgentSkill;
import io.a2a.spec.Artifact;
import io.a2a.spec.Event;
import io.a2a.spec.Message;
import io.a2a.spec.MessageSendConfiguration;
import io.a2a.spec.Task;
import io.a2a.spec.TaskArtifactUpdateEvent;
import io.a2a.spec.TaskState;
import io.a2a.spec.TaskStatus;
import io.a2a.spec.TaskStatusUpdateEvent;
import io.a2a.spec.TextPart;
import io.a2a.transport.grpc.handler.CallContextFactory;
import io.a2a.transport.grpc.handler.GrpcHandler;
import io.a2a.util.Utils;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/** The agent of the a2a-java-sdk 0.3.x, over gRPC alone, without the server that its reference implementation is part of. */
final class Agent implements AgentExecutor {
	private final Map<String, Semaphore> gates = new ConcurrentHashMap<>();
	private final PushNotificationConfigStore pushes;

	private Agent(PushNotificationConfigStore pushes) {
		this.pushes = pushes;
	}

	public static void main(String[] args) throws Exception {
		System.setProperty(AgentCardValidator.SKIP_GRPC_PROPERTY, "true"); // it looks for the reference implementation
		InetAddress loopback = InetAddress.getLoopbackAddress();
		HttpServer http = HttpServer.create(new InetSocketAddress(loopback, 0), 0);
		ExecutorService executor = Executors.newCachedThreadPool();
		InMemoryTaskStore tasks = new InMemoryTaskStore();
		InMemoryPushNotificationConfigStore pushes = new InMemoryPushNotificationConfigStore();
		Service service = new Service(DefaultRequestHandler.create(new Agent(pushes), tasks,
				new InMemoryQueueManager(tasks), pushes, new BasePushNotificationSender(pushes), executor), executor);
		Server server = NettyServerBuilder.forAddress(new InetSocketAddress(loopback, 0)).addService(service)
				.intercept(new Noting()).build().start();
		service.card = card("127.0.0.1:" + server.getPort());
		byte[] card = Utils.OBJECT_MAPPER.writeValueAsBytes(service.card);
		http.createContext("/.well-known/agent-card.json", exchange -> {
			int arrival = Noting.arrived(exchange.getRequestMethod(), exchange.getRequestURI().toString(),
					exchange.getRequestHeaders().getFirst("Host"), exchange.getRemoteAddress());
			Noting.sent(arrival, card);
			exchange.getResponseHeaders().set("Content-Type", "application/json");
			exchange.sendResponseHeaders(200, card.length);
			exchange.getResponseBody().write(card);
			exchange.close();
		});
		http.start();
		Noting.print(Map.of("ready", "http://127.0.0.1:" + http.getAddress().getPort()));
		while (System.in.read() >= 0) {
			continue;
		}
		System.exit(0);
	}

	private static AgentCard card(String address) {
		return new AgentCard.Builder().protocolVersion("0.3.0").name("peer java03")
				.description("an agent of a2a-java-sdk, 0.3 line").version("1.0.0").url(address).preferredTransport("GRPC")
				.capabilities(new AgentCapabilities(true, true, false, List.of()))
				.defaultInputModes(List.of("text/plain")).defaultOutputModes(List.of("text/plain"))
				.skills(List.of(new AgentSkill("moves", "moves", "does what the first word says", List.of("test"), null, null,
						null, null)))
				.build();
	}

	/** The SDK's service of gRPC with what it asks for. */
	private static final class Service extends GrpcHandler {
		private final RequestHandler handler;
		private final Executor executor;
		private AgentCard card;

		Service(RequestHandler handler, Executor executor) {
			this.handler = handler;
			this.executor = executor;
		}

		@Override
		protected RequestHandler getRequestHandler() {
			return handler;
		}

		@Override
		protected AgentCard getAgentCard() {
			return card;
		}

		@Override
		protected CallContextFactory getCallContextFactory() {
			return null;
		}

		@Override
		protected Executor getExecutor() {
			return executor;
		}
	}

	private Semaphore gate(String task) {
		return gates.computeIfAbsent(task, t -> new Semaphore(0));
	}

	@Override
	public void execute(RequestContext context, EventQueue queue) {
		String text = context.getUserInput(" ");
		if (text.startsWith("release ")) {
			gate(text.substring("release ".length())).release();
		}
		MessageSendConfiguration asked = context.getConfiguration();
		if (context.getTask() == null && asked != null && asked.pushNotificationConfig() != null) {
			pushes.setInfo(context.getTaskId(), asked.pushNotificationConfig()); // the SDK keeps those of older tasks alone
		}
		String artifact = UUID.randomUUID().toString();
		for (Move move : Move.of(text, context.getTask() != null)) {
			if (move.does().equals("pause") || move.does().equals("hold")) {
				gate(context.getTaskId()).acquireUninterruptibly();
			} else {
				queue.enqueueEvent(event(move, context, artifact));
			}
		}
	}

	@Override
	public void cancel(RequestContext context, EventQueue queue) {
		queue.enqueueEvent(status("canceled", null, true, context));
		gate(context.getTaskId()).release(); // the SDK does not interrupt what it cancels
	}

	private static Event event(Move move, RequestContext context, String artifact) {
		return switch (move.does()) {
			case "say" -> message(move, null, context);
			case "open" -> new Task.Builder().id(context.getTaskId()).contextId(context.getContextId())
					.status(new TaskStatus(TaskState.SUBMITTED)).history(context.getMessage()).build();
			case "produce" -> new TaskArtifactUpdateEvent(context.getTaskId(),
					new Artifact(artifact, null, null, List.of(new TextPart(move.text())), null, null),
					context.getContextId(), move.append(), move.last(), null);
			default -> status(move.does(), move.text().isEmpty() ? null : message(move, context.getTaskId(), context),
					!move.does().equals("working"), context);
		};
	}

	private static Message message(Move move, String task, RequestContext context) {
		return new Message.Builder().role(Message.Role.AGENT).parts(new TextPart(move.text()))
				.contextId(context.getContextId()).taskId(task).build();
	}

	private static TaskStatusUpdateEvent status(String state, Message said, boolean last, RequestContext context) {
		return new TaskStatusUpdateEvent(context.getTaskId(), new TaskStatus(TaskState.fromString(state), said, null),
				context.getContextId(), last, null);
	}
}
