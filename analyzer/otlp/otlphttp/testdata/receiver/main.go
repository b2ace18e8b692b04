// Receiver is the OTLP receiver of the OpenTelemetry collector, as a program for tests. Given the address to listen on,
// it takes spans over HTTP and prints them, and what is on its standard input in OTLP JSON lines besides, as the
// collector understands both: a line for each span. It ends when its standard input does.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func main() {
	ctx := context.Background()
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	settings := confmap.NewFromStringMap(map[string]any{
		"protocols": map[string]any{"http": map[string]any{"endpoint": os.Args[1]}},
	})
	must(settings.Unmarshal(config))
	var mu sync.Mutex
	show := func(how string, traces ptrace.Traces) {
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range traces.ResourceSpans().All() {
			service, _ := resource.Resource().Attributes().Get("service.name")
			for _, scope := range resource.ScopeSpans().All() {
				for _, s := range scope.Spans().All() {
					fmt.Printf("%s %s %s %s %s: %s %s %v, %d attributes, %d events, %s %q\n", how,
						s.TraceID(), s.SpanID(), s.ParentSpanID(), service.Str(), s.Name(), s.Kind(),
						s.EndTimestamp().AsTime().Sub(s.StartTimestamp().AsTime()),
						s.Attributes().Len(), s.Events().Len(), s.Status().Code(), s.Status().Message())
				}
			}
		}
	}
	sink, err := consumer.NewTraces(func(_ context.Context, traces ptrace.Traces) error {
		show("http", traces)
		return nil
	})
	must(err)
	receiver, err := factory.CreateTraces(ctx, receivertest.NewNopSettings(factory.Type()), config, sink)
	must(err)
	must(receiver.Start(ctx, componenttest.NewNopHost()))
	fmt.Println("ready") // it listens: who connects now is served
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	var reader ptrace.JSONUnmarshaler
	for lines.Scan() {
		traces, err := reader.UnmarshalTraces(lines.Bytes())
		must(err)
		show("json", traces)
	}
	must(lines.Err())
	must(receiver.Shutdown(ctx))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
