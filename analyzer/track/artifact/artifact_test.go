package artifact

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

func update(id string, members string) a2a.ArtifactUpdate {
	doc := a2a.Parse(
		fmt.Appendf(nil, `{"taskId":"t1","artifact":{"artifactId":%q,"parts":[{"text":"x"}]}%s}`, id, members),
	)
	return a2a.ArtifactUpdate{Value: doc.Root}
}

// Of a stream that brings any number of artifacts some are remembered, and that there were more.
func TestPiecesAreBounded(t *testing.T) {
	var p Pieces
	for k := range 2 * maxPieces {
		p.add(k+1, update(fmt.Sprint("a", k), ""), false)
	}
	if len(p.list) != maxPieces || !p.More {
		t.Errorf("%d artifacts are kept, and that there were more: %v", len(p.list), p.More)
	}
	if p.Of(update("a0", "").Artifact()) == nil || p.Of(update(fmt.Sprint("a", maxPieces), "").Artifact()) != nil {
		t.Error("others are kept than those that came first")
	}
}

// An artifact in pieces has its last one, until it is begun again.
func TestPieces(t *testing.T) {
	var p Pieces
	p.add(1, update("a", ""), false)
	p.add(2, update("a", `,"append":true`), false)
	if got := p.Unfinished(); got == nil || got.Newest != 2 || !p.Chunked() {
		t.Errorf("got %+v, want the artifact unfinished after event 2", got)
	}
	p.add(3, update("a", `,"append":true,"lastChunk":true`), false)
	if got := p.Of(update("a", "").Artifact()); p.Unfinished() != nil || got.Last != 3 || !got.Whole {
		t.Errorf("got %+v, want it whole after event 3", got)
	}
	p.add(4, update("a", ""), false)
	if got := p.Of(update("a", "").Artifact()); got.Last != 0 || got.Appended != 0 {
		t.Errorf("got %+v, want it begun again", got)
	}
	p.add(5, update("b", ""), true)
	if p.Of(update("b", "").Artifact()).Whole {
		t.Error("an artifact that begins after the end is whole")
	}
}

// A set of more artifacts than are remembered, or with some that nothing identifies, is not compared.
func TestSetsAreBounded(t *testing.T) {
	task := func(artifacts ...string) *Set {
		doc := a2a.Parse(fmt.Appendf(nil, `{"id":"t1","artifacts":[%s]}`, strings.Join(artifacts, ",")))
		return shown(&analysis.Observation{Exchange: &analysis.Exchange{}}, a2a.Task{Value: doc.Root})
	}
	many := make([]string, maxArtifacts+1)
	for i := range many {
		many[i] = fmt.Sprintf(`{"artifactId":"a%d"}`, i)
	}
	for name, test := range map[string]struct {
		set    *Set
		len    int
		partly bool
	}{
		"few":       {task(many[:3]...), 3, false},
		"many":      {task(many...), maxArtifacts, true},
		"one twice": {task(many[0], many[0]), 1, true},
		"nameless":  {task(`{"parts":[]}`), 0, true},
	} {
		if test.set.Len() != test.len || test.set.Partly != test.partly ||
			test.set.like(&analysis.Exchange{}) == test.partly {
			t.Errorf("%s: %d artifacts, partly %v; want %d, %v", name, test.set.Len(), test.set.Partly, test.len, test.partly)
		}
	}
}
