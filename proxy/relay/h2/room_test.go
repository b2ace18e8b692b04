package h2_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy/budget"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// Messages for which there is no room are not held, and pass as they came. What was held leaves its room behind.
func TestRoomForHeldMessages(t *testing.T) {
	const size, messages = 1<<20 - 1, 40
	for version, c := range map[string]*http.Client{
		"HTTP/1": {Transport: &http.Transport{}, Timeout: must.Patience}, "HTTP/2": client(t),
	} {
		t.Run(version, func(t *testing.T) {
			t.Cleanup(func() { // the tap has ended: it may give back room after the client has the response
				if free := budget.HeldRoom.Free(); free != budget.HeldBytes {
					t.Errorf("%d bytes are free", free)
				}
			})
			begun := make(chan struct{}, messages) // the agent has the head of a request
			addr := agent(t, func(w http.ResponseWriter, r *http.Request) {
				begun <- struct{}{}
				first := make([]byte, 1)
				r.Body.Read(first)
				io.Copy(io.Discard, r.Body)
				w.Write(first)
			})
			p := newTap(t, addr, func(c *relay.Config) { c.Editor = requestEditor{} })
			var calls sync.WaitGroup
			end := make(chan struct{})
			answers := make(chan string, messages)
			for range messages {
				calls.Go(func() {
					body := io.MultiReader(strings.NewReader(strings.Repeat("a", size-1)), readAfter(end, "z"))
					request := must.Get(http.NewRequest("POST", "http://"+p.addr, body))(t)
					request.ContentLength = size
					answer, err := c.Do(request)
					if err != nil {
						t.Error(err)
						return
					}
					defer answer.Body.Close()
					answers <- string(must.Get(io.ReadAll(answer.Body))(t))
				})
			}
			for range messages - budget.HeldBytes/size {
				<-begun
			}
			close(end)
			calls.Wait()
			close(answers)
			count := map[string]int{}
			for answer := range answers {
				count[answer]++
			}
			if held := count["A"]; held == 0 || held > budget.HeldBytes/size || held+count["a"] != messages {
				t.Errorf("the agent got %v", count)
			}
		})
	}
}

// readAfter returns a reader of a text that waits until a channel is closed.
func readAfter(c <-chan struct{}, text string) io.Reader {
	r, w := io.Pipe()
	go func() {
		<-c
		io.WriteString(w, text)
		w.Close()
	}()
	return r
}

// A client whose heads expand to more than a connection may keep is refused, and others are not.
func TestHeadsThatExpand(t *testing.T) {
	addr := agent(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			w.WriteHeader(http.StatusOK)
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	})
	p := newTap(t, addr, nil)
	w := dial(t, p.addr)
	large := []string{"x", strings.Repeat("y", 3000)} // is in the table after the first request
	var many []string
	for range 100 {
		many = append(many, large...)
	}
	refused := 0
	for id := uint32(1); id < 200; id += 2 {
		w.get(id, "/wait", many...)
		if status := w.status(id); status == "431" {
			refused++
		}
	}
	if most := budget.ConnHeaderBytes / (100 * 3000); refused < 100-most-1 || refused > 100-most+1 {
		t.Errorf("%d requests were refused", refused)
	}
	other := dial(t, p.addr)
	other.get(1, "/", large...)
	if status := other.status(1); status != "200" {
		t.Errorf("another client gets %s", status)
	}
	w.Close()
	w = dial(t, p.addr)
	for id := uint32(1); id < 40; id += 2 {
		w.get(id, "/wait", many...)
		if status := w.status(id); status != "200" {
			t.Fatalf("request %d after the others gets %s", id, status)
		}
		w.WriteRSTStream(id, 8)
		w.WritePing(false, [8]byte{})
	}
}
