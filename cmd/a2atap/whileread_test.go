package main

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"a2atap/analyzer/reading"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
)

// A capture that nobody has judged, and that is too large to be judged before the inspector opens, is judged while one
// looks at it, and that is kept: who looks next reads it. Who leaves early is not made to wait, and nothing is kept.
func TestJudgedWhileInspected(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c.a2atap")
	store, err := bolt.Open(name, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sink := redact.New(store, redact.Options{Key: redact.NewKey(), Describer: reading.NewDescriber()})
	recorder := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink, IfFull: proxy.Wait})
	for n := range judgedFirst + 1 {
		passExchange(recorder, n)
	}
	if err := recorder.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	e := env{Out: io.Discard, Err: io.Discard}
	open := func() (capture.Source, *judged, <-chan struct{}) {
		src, err := openFollowed(e, name, forever)
		if err != nil {
			t.Fatal(err)
		}
		j, making := e.inspected(t.Context(), name, src)
		if j == nil {
			t.Fatal("there is no reading")
		}
		return src, j, making
	}
	end := func(src capture.Source, j *judged) {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
	left := func(src capture.Source, j *judged, making <-chan struct{}) {
		end(src, j)
		select {
		case <-making:
		default:
			t.Error("it is judged although nobody looks")
		}
	}
	src, j, making := open()
	if making == nil {
		t.Fatal("it was judged before the inspector opened")
	}
	left(src, j, making)

	src, j, making = open()
	if making == nil {
		t.Fatal("what was judged in part was kept as if it were all")
	}
	<-making
	if grown, err := j.Refresh(t.Context()); !grown || err != nil {
		t.Errorf("grown: %v, %v", grown, err)
	}
	if h := j.Head(); !h.Ended || h.Rows != judgedFirst+1 {
		t.Errorf("the reading is %+v", h)
	}
	end(src, j)

	src, j, making = open()
	if making != nil || !j.Head().Ended {
		t.Error("it is judged anew")
	}
	end(src, j)
}
