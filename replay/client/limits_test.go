package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/limits"
)

// Whatever an agent sends, and however slowly, the call ends with an error that names the limit and the flag.
func TestLimits(t *testing.T) {
	const event = `data: {"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}` + "\n\n"
	small := limits.Limits{Answer: 1 << 20, Events: 100, Values: 1000, Idle: must.Patience}
	forever := func(ctx context.Context, w io.Writer, text string, pause time.Duration) {
		for ctx.Err() == nil {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}
	answering := func(mediaType string, answer func(ctx context.Context, w io.Writer)) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			answer(r.Context(), w)
		}
	}
	const stream, json = "text/event-stream", "application/json"
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		want   string
	}{
		"endless stream": {
			answering(stream, func(ctx context.Context, w io.Writer) { forever(ctx, w, event, 0) }),
			"more than 100 events; --max-events allows more",
		},
		"endless event": {
			answering(stream, func(ctx context.Context, w io.Writer) { forever(ctx, w, "data: "+strings.Repeat("x", 200_000)+"\n", 0) }),
			"longer than 1048576 bytes; --max-answer allows more",
		},
		"silent stream": {
			answering(stream, func(ctx context.Context, w io.Writer) { forever(ctx, w, event, time.Hour) }),
			"brought no event for 200ms; --max-idle allows more",
		},
		"stream of pings": {
			answering(stream, func(ctx context.Context, w io.Writer) { forever(ctx, w, ": ping\n\n", time.Millisecond) }),
			"brought no event for 200ms; --max-idle allows more",
		},
		"event of many values": {
			answering(stream, func(_ context.Context, w io.Writer) { fmt.Fprintf(w, "data: [%s0]\n\n", strings.Repeat("{},", 2000)) }),
			"more than 1000 JSON values",
		},
		"head, then nothing": {
			answering(json, func(ctx context.Context, w io.Writer) { forever(ctx, w, " ", time.Hour) }),
			"the answer did not end within 2s; --timeout allows more",
		},
		"a byte now and then": {
			answering(json, func(ctx context.Context, w io.Writer) { forever(ctx, w, " ", 10*time.Millisecond) }),
			"the answer did not end within 2s; --timeout allows more",
		},
		"endless answer": {
			answering(json, func(ctx context.Context, w io.Writer) { forever(ctx, w, strings.Repeat(" ", 1000), 0) }),
			"longer than 1048576 bytes; --max-answer allows more",
		},
		"answer of many values": {
			answering(json, func(_ context.Context, w io.Writer) { fmt.Fprintf(w, "[%s0]", strings.Repeat("{},", 2000)) }),
			"more than 1000 JSON values",
		},
		"no answer": {
			func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() },
			"no answer within 2s; --timeout allows more",
		},
		"long head": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Long", strings.Repeat("x", 2*limits.Head))
			},
			"the head of the answer is longer than 1048576 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Limits: small, Timeout: must.Patience}
			switch { // a busy machine reaches no other limit before
			case strings.Contains(test.want, "--timeout"):
				o.Timeout = 2 * time.Second
			case strings.Contains(test.want, "--max-idle"):
				o.Limits.Idle = 200 * time.Millisecond
			}
			c := speak(t, agent(t, test.answer), REST10, o)
			err := toTheEnd(c.Stream(t.Context(), Text("x"), SendOptions{}))
			expect.ErrorHas(t, "", test.want, err)
			if errors.Is(err, ErrCut) {
				t.Errorf("%v: counts as cut by the agent", err)
			}
		})
	}
}

// Whatever an agent serves as its card, reading it ends, and the error names the limit and the flag.
func TestLimitsOfCards(t *testing.T) {
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"silent": {
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			"no answer within 2s; --timeout allows more",
		},
		"head, then nothing": {
			func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); <-r.Context().Done() },
			"the answer did not end within 2s; --timeout allows more",
		},
		"redirects": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) },
			"it redirects more than 10 times",
		},
		"skills": {
			func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `{"skills":[{}%s]}`, strings.Repeat(",{}", 100))
			},
			"the card has more than 100 skills; --max-skills allows more",
		},
		"long": {
			func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `{"name":"%s"}`, strings.Repeat("x", 2<<20))
			},
			"the answer is longer than 1048576 bytes; --max-answer allows more",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.answer)
			t.Cleanup(server.Close)
			timeout := must.Patience
			if strings.Contains(test.want, "--timeout") {
				timeout = 2 * time.Second
			}
			_, err := Discover(t.Context(), server.URL, Options{
				Limits: limits.Limits{Answer: 1 << 20, Skills: 100}, Timeout: timeout,
			})
			expect.ErrorHas(t, "", test.want, err)
		})
	}
}
