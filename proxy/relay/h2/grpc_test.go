package h2_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// A service is an agent of gRPC.
type service struct {
	pb.UnimplementedTestServiceServer
	left chan error // how contexts of calls that wait have ended
}

// UnaryCall answers with as many bytes as are asked for, or with the status that is.
func (s *service) UnaryCall(ctx context.Context, in *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	if in.ResponseStatus != nil {
		return nil, status.Error(codes.Code(in.ResponseStatus.Code), in.ResponseStatus.Message)
	}
	md, _ := metadata.FromIncomingContext(ctx)
	grpc.SetHeader(ctx, metadata.Pairs("x-initial", strings.Join(md.Get("x-asked"), ",")))
	grpc.SetTrailer(ctx, metadata.Pairs("x-trailing-bin", "\x00\xff"))
	return &pb.SimpleResponse{
		Payload: &pb.Payload{Body: make([]byte, in.ResponseSize)}, Username: fmt.Sprint(len(in.Payload.GetBody())),
	}, nil
}

// EmptyCall waits until the client has left.
func (s *service) EmptyCall(ctx context.Context, _ *pb.Empty) (*pb.Empty, error) {
	<-ctx.Done()
	s.left <- ctx.Err()
	return nil, ctx.Err()
}

// StreamingOutputCall sends messages as they are asked for, and then waits until the client has left if the last has a
// size of 0.
func (s *service) StreamingOutputCall(in *pb.StreamingOutputCallRequest,
	out grpc.ServerStreamingServer[pb.StreamingOutputCallResponse],
) error {
	for _, p := range in.ResponseParameters {
		if p.Size == 0 {
			<-out.Context().Done()
			s.left <- out.Context().Err()
			return out.Context().Err()
		}
		if err := out.Send(&pb.StreamingOutputCallResponse{Payload: &pb.Payload{Body: make([]byte, p.Size)}}); err != nil {
			return err
		}
	}
	return nil
}

// FullDuplexCall answers each message at once.
func (s *service) FullDuplexCall(
	both grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse],
) error {
	for {
		in, err := both.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := both.Send(&pb.StreamingOutputCallResponse{Payload: in.Payload}); err != nil {
			return err
		}
	}
}

// StreamingInputCall says how much came.
func (s *service) StreamingInputCall(
	in grpc.ClientStreamingServer[pb.StreamingInputCallRequest, pb.StreamingInputCallResponse],
) error {
	size := 0
	for {
		m, err := in.Recv()
		if errors.Is(err, io.EOF) {
			return in.SendAndClose(&pb.StreamingInputCallResponse{AggregatedPayloadSize: int32(size)})
		}
		if err != nil {
			return err
		}
		size += len(m.Payload.Body)
	}
}

// grpcAgent serves gRPC until the test ends.
func grpcAgent(t testing.TB, opts ...grpc.ServerOption) (addr string, s *service, server *grpc.Server) {
	t.Helper()
	l := listen(t)
	server = grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(64<<20))...)
	s = &service{left: make(chan error, 2_000)}
	pb.RegisterTestServiceServer(server, s)
	var wait sync.WaitGroup
	wait.Go(func() { server.Serve(l) })
	t.Cleanup(func() {
		server.Stop()
		wait.Wait()
	})
	return l.Addr().String(), s, server
}

// grpcClient returns a client of gRPC.
func grpcClient(t testing.TB, addr string, opts ...grpc.DialOption) pb.TestServiceClient {
	t.Helper()
	opts = append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20), grpc.MaxCallSendMsgSize(64<<20)))
	conn := must.Get(grpc.NewClient("passthrough:///"+addr, opts...))(t)
	t.Cleanup(func() { conn.Close() })
	return pb.NewTestServiceClient(conn)
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), must.Patience)
	t.Cleanup(cancel)
	return ctx
}

// says returns the result of a call as text: its answer, metadata and status.
func says(answer any, header, trailer metadata.MD, err error) string {
	for _, md := range []metadata.MD{header, trailer} {
		md.Delete("date")
	}
	return fmt.Sprintf("%v\n%v\n%v\n%v", answer, header, trailer, status.Convert(err))
}

// scripts are gRPC client programs that must have the same result with and without a tap. They return what the client
// received.
var scripts = map[string]func(t *testing.T, c pb.TestServiceClient, s *service) string{
	"unary": func(t *testing.T, c pb.TestServiceClient, _ *service) string {
		ctx := metadata.AppendToOutgoingContext(within(t), "x-asked", "a", "x-asked", "b", "x-empty", "")
		var header, trailer metadata.MD
		got, err := c.UnaryCall(ctx, &pb.SimpleRequest{ResponseSize: 5, Payload: &pb.Payload{Body: []byte("hello")}},
			grpc.Header(&header), grpc.Trailer(&trailer))
		return says(got, header, trailer, err)
	},
	"trailers only": func(t *testing.T, c pb.TestServiceClient, _ *service) string {
		var header, trailer metadata.MD
		got, err := c.UnaryCall(within(t), &pb.SimpleRequest{ResponseStatus: &pb.EchoStatus{Code: 5, Message: "no täsk\n"}},
			grpc.Header(&header), grpc.Trailer(&trailer))
		return says(got, header, trailer, err)
	},
	"unimplemented": func(t *testing.T, c pb.TestServiceClient, _ *service) string {
		_, err := c.UnimplementedCall(within(t), &pb.Empty{})
		return says(nil, nil, nil, err)
	},
	"compressed": func(t *testing.T, c pb.TestServiceClient, _ *service) string {
		got, err := c.UnaryCall(within(t), &pb.SimpleRequest{ResponseSize: 50_000}, grpc.UseCompressor(gzip.Name))
		return says(len(got.GetPayload().GetBody()), nil, nil, err)
	},
	"large": func(t *testing.T, c pb.TestServiceClient, _ *service) string {
		got, err := c.UnaryCall(within(t), &pb.SimpleRequest{
			ResponseSize: 3 << 20, Payload: &pb.Payload{Body: make([]byte, 3<<20)},
		})
		return says(len(got.GetPayload().GetBody()), nil, nil, err)
	},
	"server stream": func(t *testing.T, c pb.TestServiceClient, _ *service) string {
		in := &pb.StreamingOutputCallRequest{}
		for i := range 100 {
			in.ResponseParameters = append(in.ResponseParameters, &pb.ResponseParameters{Size: int32(1 + i*100)})
		}
		stream, err := c.StreamingOutputCall(within(t), in)
		if err != nil {
			return err.Error()
		}
		var got strings.Builder
		for {
			m, err := stream.Recv()
			if err != nil {
				return got.String() + err.Error()
			}
			fmt.Fprintln(&got, len(m.Payload.Body))
		}
	},
	"client stream": func(t *testing.T, c pb.TestServiceClient, _ *service) string {
		stream, err := c.StreamingInputCall(within(t))
		if err != nil {
			return err.Error()
		}
		for i := range 100 {
			if err := stream.Send(&pb.StreamingInputCallRequest{Payload: &pb.Payload{Body: make([]byte, i*100)}}); err != nil {
				return err.Error()
			}
		}
		got, err := stream.CloseAndRecv()
		return says(got.GetAggregatedPayloadSize(), nil, nil, err)
	},
	"both ways": func(t *testing.T, c pb.TestServiceClient, _ *service) string {
		stream, err := c.FullDuplexCall(within(t))
		if err != nil {
			return err.Error()
		}
		var got strings.Builder
		for i := range 50 {
			body := bytes.Repeat([]byte{byte(i)}, i)
			if err := stream.Send(&pb.StreamingOutputCallRequest{Payload: &pb.Payload{Body: body}}); err != nil {
				return err.Error()
			}
			m, err := stream.Recv()
			fmt.Fprintln(&got, bytes.Equal(m.GetPayload().GetBody(), body), err)
		}
		stream.CloseSend()
		_, err = stream.Recv()
		return got.String() + err.Error()
	},
	"cancelled": func(t *testing.T, c pb.TestServiceClient, s *service) string {
		ctx, cancel := context.WithCancel(within(t))
		defer cancel()
		stream, err := c.StreamingOutputCall(ctx, &pb.StreamingOutputCallRequest{
			ResponseParameters: []*pb.ResponseParameters{{Size: 1}, {Size: 0}},
		})
		if err != nil {
			return err.Error()
		}
		_, first := stream.Recv()
		cancel()
		_, second := stream.Recv()
		return fmt.Sprint(first, second, <-s.left)
	},
	"deadline": func(t *testing.T, c pb.TestServiceClient, _ *service) string {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, err := c.EmptyCall(ctx, &pb.Empty{}) // which may not come to the agent before it is over
		return status.Code(err).String()
	},
	"1,000 resets": func(t *testing.T, c pb.TestServiceClient, s *service) string {
		counts := make(map[codes.Code]int)
		once := func() error {
			ctx, cancel := context.WithCancel(within(t))
			defer cancel()
			stream, err := c.StreamingOutputCall(ctx, &pb.StreamingOutputCallRequest{
				ResponseParameters: []*pb.ResponseParameters{{Size: 1}, {Size: 0}},
			})
			if err == nil {
				stream.Recv()
				cancel()
				_, err = stream.Recv()
			}
			return err
		}
		for range 1_000 {
			counts[status.Code(once())]++
			<-s.left
		}
		return fmt.Sprint(counts)
	},
}

// What clients of gRPC get to see is the same with and without a tap, and each call is observed.
func TestSameWithAndWithout(t *testing.T) {
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			for window, opts := range map[string][]grpc.DialOption{
				"default window": nil,
				"small window":   {grpc.WithStaticStreamWindowSize(1), grpc.WithStaticConnWindowSize(1)},
			} {
				addr, s, _ := grpcAgent(t)
				want := script(t, grpcClient(t, addr, opts...), s)
				p := newTap(t, addr, nil)
				got := script(t, grpcClient(t, p.addr, opts...), s)
				if got != want {
					t.Errorf("%s: through the tap\n%s\nwithout it\n%s", window, got, want)
				}
				for _, e := range p.seen.all() {
					if !strings.HasPrefix(e.Request, "POST /grpc.testing.TestService/") {
						t.Errorf("request %q", e.Request)
					}
				}
			}
		})
	}
}

// What a call looks like to an Observer.
func TestObservesCalls(t *testing.T) {
	addr, s, _ := grpcAgent(t)
	for name, check := range map[string]func(e *exchange) bool{
		"unary": func(e *exchange) bool {
			return e.Fault == nil && e.Asked && e.Answered && e.Body[0] == 0 && int(e.Body[4]) == len(e.Body)-5 &&
				strings.Contains(e.Answer, "\r\nx-initial: a,b\r\n") && strings.Contains(e.AnswerTrailer, "grpc-status: 0\r\n") &&
				strings.Contains(e.AnswerTrailer, "x-trailing-bin: AP8") && strings.Contains(e.Request, "\r\nx-empty: \r\n")
		},
		"trailers only": func(e *exchange) bool {
			return e.Fault == nil && e.Answered && e.AnswerBody == nil && e.AnswerTrailer == "" &&
				strings.Contains(e.Answer, "grpc-status: 5\r\n")
		},
		"server stream": func(e *exchange) bool {
			return e.Fault == nil && e.AnswerTrailer == "grpc-status: 0\r\ngrpc-message: \r\n"
		},
		"cancelled": func(e *exchange) bool {
			return e.Fault != nil && e.Fault.Kind == relay.KindClientLeft && strings.Contains(e.Fault.Detail, "CANCEL") &&
				!e.Answered
		},
		"deadline": func(e *exchange) bool { // either end may be the first
			return strings.Contains(e.Request, "\r\ngrpc-timeout: ") &&
				(e.Fault != nil || strings.Contains(e.Answer, "grpc-status: 4\r\n"))
		},
	} {
		p := newTap(t, addr, nil)
		c := grpcClient(t, p.addr)
		for scripts[name](t, c, s); len(p.seen.all()) == 0; scripts[name](t, c, s) {
		}
		if e := p.seen.ended(1)[0]; !check(e) {
			t.Errorf("%s: %+v, fault %v", name, e, e.Fault)
		}
	}
}

// An agent that shuts down sends GOAWAY, which reaches the client while its call continues.
func TestGoAwayInTheMiddle(t *testing.T) {
	addr, _, server := grpcAgent(t)
	p := newTap(t, addr, nil)
	c := grpcClient(t, p.addr)
	stream := must.Get(c.FullDuplexCall(within(t)))(t)
	both := func() {
		t.Helper()
		must.Do(t, stream.Send(&pb.StreamingOutputCallRequest{}))
		must.Get(stream.Recv())(t)
	}
	both()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		server.GracefulStop()
	}()
	for { // until the client has heard of it: it then needs another connection, which the agent does not take
		ctx, cancel := context.WithTimeout(context.Background(), must.Patience)
		_, err := c.UnaryCall(ctx, &pb.SimpleRequest{})
		cancel()
		if err != nil {
			break
		}
	}
	both()
	stream.CloseSend()
	expect.ErrorIs(t, "the call ended with", io.EOF, expect.Err(stream.Recv()))
	<-stopped
	if e := p.seen.ended(1)[0]; e.Fault != nil {
		t.Errorf("its exchange has the fault %v", e.Fault)
	}
}

// If an agent is missing, the relay answers in gRPC terms, and each call is observed.
func TestNoAgent(t *testing.T) {
	l := listen(t)
	addr := l.Addr().String()
	l.Close()
	p := newTap(t, addr, nil)
	_, err := grpcClient(t, p.addr).UnaryCall(within(t), &pb.SimpleRequest{})
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "connect to the agent at "+addr) {
		t.Errorf("the call: %v", err)
	}
	res, body := ask(t, client(t), "http://"+p.addr+"/", "{}")
	if res.StatusCode != 502 || !strings.Contains(body, "connect to the agent at "+addr) {
		t.Errorf("got %d and %s", res.StatusCode, body)
	}
	for _, e := range p.seen.ended(2) {
		if e.Fault == nil || e.Fault.Kind != relay.KindUnreachable || e.Fault.Status != 502 {
			t.Errorf("%+v, %v", e, e.Fault)
		}
	}
}
