// Package cmdtest has helpers for tests of commands: clients and agents that fill a recording, a capture of one
// exchange, and a wait for the end of a recording.
package cmdtest

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/judgment"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/fleet"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// Stop ends a recording and returns what its rules found. A recording that does not end in time fails the test.
func Stop(t testing.TB, r interface {
	Stop() (*judgment.Result, recording.Stats, error)
},
) *judgment.Result {
	t.Helper()
	type end struct {
		result *judgment.Result
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		result, _, err := r.Stop()
		ended <- end{result, err}
	}()
	select {
	case e := <-ended:
		if e.err != nil {
			t.Fatal(e.err)
		}
		return e.result
	case <-time.After(must.Patience):
		t.Fatal("the recording does not end")
		return nil
	}
}

// GetTask asks an A2A 1.0 agent for a task, and reads any answer.
func GetTask(client *http.Client, to string) error {
	body := `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`
	request, err := http.NewRequest(http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("A2A-Version", "1.0")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return errors.Join(err, answer.Body.Close())
}

// NoiseAgent starts an agent with incompressible answers, and returns its URL.
func NoiseAgent(t testing.TB) string {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := make([]byte, 2000)
		rand.Read(answer)
		w.Write(answer)
	}))
	t.Cleanup(agent.Close)
	return agent.URL
}

// A Crowd of clients counts its requests and their responses.
type Crowd struct {
	URL             string
	Tried, Answered atomic.Int64
}

// Send sends n requests with four clients, until one fails.
func (s *Crowd) Send(n int) {
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range n / 4 {
				s.Tried.Add(1)
				answer, err := client.Post(s.URL, "text/plain", strings.NewReader("hello"))
				if err != nil {
					return
				}
				_, err = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				if err != nil {
					return
				}
				s.Answered.Add(1)
			}
		})
	}
	clients.Wait()
}

// OneExchange records one more exchange into a capture, with a number, and returns the name of its file.
func OneExchange(t testing.TB, file string, seq uint64) string {
	t.Helper()
	store, err := bolt.Open(file, bolt.Options{Tool: cli.ToolName()})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Append(
		capture.Step{Seq: seq, What: capture.Opened{
			ID: uuid.New(), Started: time.Unix(1_700_000_000, 0), Head: []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
		}},
		capture.Step{Seq: seq, What: capture.RequestEnd{}},
		capture.Step{Seq: seq, What: capture.Closed{}},
	)
	if err := errors.Join(err, store.Close(), store.Reader.Close()); err != nil {
		t.Fatal(err)
	}
	return file
}

// Ship publishes all of a capture as a host's, to the stream traffic.
func Ship(t testing.TB, server *fleettest.Server, host, file string) {
	t.Helper()
	address, err := fleet.ParseAddress(server.URL("traffic"))
	if err != nil {
		t.Fatal(err)
	}
	src, err := bolt.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s := fleet.NewShipper(address, src, fleet.ShipOptions{
		Host: host, Tool: "a2atap test", Name: filepath.Base(file), Once: true,
	})
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}
