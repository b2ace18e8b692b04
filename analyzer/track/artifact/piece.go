package artifact

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

// Bounds of memory. Anything beyond is forgotten, tasks in least recently used order.
const (
	maxTasks     = 5_000
	maxArtifacts = 16 // of a task
	maxPieces    = 64 // artifacts of a stream
)

// A key identifies an artifact within its task: a digest of its id, or in 0.1 of its index.
type key digest.Digest

// keyOf returns the key of an artifact; ok is false if nothing identifies it.
func keyOf(a a2a.Artifact) (k key, ok bool) {
	if id := a.Get("artifactId"); id.Kind() == a2a.String {
		return key(digest.Empty.Byte('i').JSONString(id)), len(id.Raw()) > 2
	}
	index, ok := a.Get("index").Int()
	return key(digest.Empty.Byte('n').Number(uint64(index))), ok && !a.Has("artifactId")
}

// Identified reports whether something identifies an artifact.
func Identified(a a2a.Artifact) bool {
	_, ok := keyOf(a)
	return ok
}

// Name returns the name of an artifact in findings: its id in quotes, or its index.
func Name(a a2a.Artifact) string {
	if id := a.ID(); id != "" {
		return analysis.QuoteText(id)
	}
	return analysis.Quote(a.Get("index"))
}

// A Piece is the part of one artifact that a stream has shown.
type Piece struct {
	Newest   int  // number of the last event about it
	Last     int  // number of the event with lastChunk:true that was not followed by a replacement; 0 if none
	Appended int  // number of the last event that appended to it; 0 if none did
	Whole    bool // an update of this stream began it, and the task was not over before it was done
	key      key
	content  digest.Content
}

// Pieces are the artifacts of a stream, as far as they are remembered.
type Pieces struct {
	More bool // there were more than are remembered
	list []Piece
}

// Of returns the Piece of an artifact; nil if it was not seen, or nothing identifies it.
func (p *Pieces) Of(a a2a.Artifact) *Piece {
	k, ok := keyOf(a)
	if !ok {
		return nil
	}
	return p.find(k)
}

func (p *Pieces) find(k key) *Piece {
	for i := range p.list {
		if p.list[i].key == k {
			return &p.list[i]
		}
	}
	return nil
}

// Chunked reports whether an artifact was sent in pieces.
func (p *Pieces) Chunked() bool {
	return slices.ContainsFunc(p.list, func(piece Piece) bool { return piece.Appended > 0 })
}

// Unfinished returns the first artifact that was sent in pieces and never had its last one, or nil.
func (p *Pieces) Unfinished() *Piece {
	for i := range p.list {
		if piece := &p.list[i]; piece.Appended > 0 && piece.Last == 0 {
			return piece
		}
	}
	return nil
}

// take returns the position of an artifact, which it adds if necessary; nil if there are too many.
func (p *Pieces) take(k key) *Piece {
	if piece := p.find(k); piece != nil {
		return piece
	}
	if len(p.list) == maxPieces {
		p.More = true
		return nil
	}
	p.list = append(p.list, Piece{key: k, content: digest.NoContent})
	return &p.list[len(p.list)-1]
}

// add remembers event k, an update. An update after the end of the task completes nothing.
func (p *Pieces) add(k int, u a2a.ArtifactUpdate, ended bool) {
	id, ok := keyOf(u.Artifact())
	if !ok {
		return
	}
	piece := p.take(id)
	if piece == nil {
		return
	}
	fresh := piece.Newest == 0
	piece.Newest = k
	if u.Append() {
		piece.Appended = k
		piece.Whole = piece.Whole && !ended
	} else {
		piece.Last, piece.Appended, piece.content = 0, 0, digest.NoContent
		piece.Whole = !ended && (fresh || piece.Whole)
	}
	piece.content.Add(u.Artifact().Parts())
	if u.LastChunk() {
		piece.Last = k
	}
	piece.Whole = piece.Whole && u.AppendKnown()
}

// show remembers event k, a Task: of the artifacts that it shows, the stream has not seen how they came about.
func (p *Pieces) show(k int, t a2a.Task) {
	for _, a := range t.Artifacts() {
		id, ok := keyOf(a)
		if !ok {
			continue
		}
		if piece := p.take(id); piece != nil {
			piece.Newest = k
		}
	}
}
