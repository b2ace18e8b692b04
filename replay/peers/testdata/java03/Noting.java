import com.fasterxml.jackson.databind.ObjectMapper;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Base64;
import java.util.Map;

/** An agent's output: it tells what comes and goes as the agents in the other languages do. */
final class Noting implements ServerInterceptor {
	private static final ObjectMapper JSON = new ObjectMapper();
	private static int arrivals;

	static synchronized void print(Object value) throws IOException {
		System.out.println(JSON.writeValueAsString(value));
	}

	/** Tells that a request has come, and returns its number. */
	static synchronized int arrived(String method, String target, String host, SocketAddress from) throws IOException {
		InetSocketAddress remote = (InetSocketAddress) from;
		print(Map.of("arrival", Map.of("method", method, "target", target, "host", host,
				"remote", remote.getAddress().getHostAddress() + ":" + remote.getPort())));
		return arrivals++;
	}

	/** Tells of a piece of the answer to the request of that number, before it is written. */
	static void sent(int arrival, byte[] body) throws IOException {
		print(Map.of("sent", Map.of("arrival", arrival, "bytes", Base64.getEncoder().encodeToString(body))));
	}

	/** A message that is not compressed, behind its prefix: gRPC over HTTP2, "Length-Prefixed-Message". */
	private static byte[] framed(InputStream message) throws IOException {
		ByteArrayOutputStream framed = new ByteArrayOutputStream();
		byte[] body = message.readAllBytes();
		DataOutputStream out = new DataOutputStream(framed);
		out.writeByte(0);
		out.writeInt(body.length);
		out.write(body);
		return framed.toByteArray();
	}

	@Override
	public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
		int arrival;
		try {
			arrival = arrived("POST", "/" + call.getMethodDescriptor().getFullMethodName(), call.getAuthority(),
					call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
		} catch (IOException broken) {
			throw new UncheckedIOException(broken);
		}
		return next.startCall(new SimpleForwardingServerCall<>(call) {
			@Override
			public void sendMessage(A message) {
				try {
					sent(arrival, framed(getMethodDescriptor().streamResponse(message)));
				} catch (IOException broken) {
					throw new UncheckedIOException(broken);
				}
				super.sendMessage(message);
			}
		}, headers);
	}
}
