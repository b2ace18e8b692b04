package h2

import (
	"golang.org/x/net/http2"
)

// beginData begins a DATA frame: RFC 9113 section 6.1. The length of its padding has arrived.
func (h *half) beginData(fh http2.FrameHeader, first []byte) {
	n := int64(fh.Length)
	d := &h.data
	d.head = fh
	d.stream = h.streamOf(fh.StreamID)
	d.content = int(fh.Length)
	if len(first) > 0 {
		d.content = max(0, d.content-1-int(first[0]))
	}
	switch s := d.stream; {
	case s != nil && s.isOurs():
		d.dropped = true
		h.credit.stays(n)
		return
	case s != nil:
		d.own = h.credit.take(s.id, n, int64(d.content))
	}
	misfit := fh.Flags&http2.FlagDataPadded != 0 && (len(first) == 0 || int(first[0]) >= int(fh.Length))
	if misfit {
		h.strays.report(first, "DATA with more padding than payload (RFC 9113 section 6.1)")
	}
	if d.own != nil && (misfit || h.credit.isOver(d.own) || d.own.broke) {
		frame := append(appendHead(nil, fh.Type, fh.Flags, fh.StreamID, int(fh.Length)), first...)
		d.behind = h.breakBody(d.own, func() { d.own.follow(frame) })
	}
	if d.own != nil {
		return
	}
	out := &h.to.out
	if h.credit.mustWait(n) {
		out.give()
		h.credit.passes(n)
		out.take()
	} else {
		h.credit.passes(n)
	}
	out.bytes = append(appendHead(out.bytes, fh.Type, fh.Flags, fh.StreamID, int(fh.Length)), first...)
}

// dataPiece handles bytes of a DATA frame, content or padding.
func (h *half) dataPiece(p []byte) {
	d := &h.data
	content := p[:min(len(p), d.content)]
	d.content -= len(content)
	if len(content) > 0 {
		d.stream.mu.Lock()
		if !d.stream.ended {
			h.does.observe(d.stream, content)
		}
		d.stream.mu.Unlock()
	}
	switch {
	case d.dropped:
		if by := d.stream.delivery; by != nil {
			by.body.add(content)
		}
	case d.behind:
		h.breakBody(d.own, func() { d.own.follow(p) })
	case d.own != nil:
		h.addContent(d.own, content)
	default:
		h.to.out.bytes = append(h.to.out.bytes, p...)
	}
}

// endData ends a DATA frame.
func (h *half) endData() {
	d := &h.data
	if d.head.Flags&http2.FlagDataEndStream == 0 || d.behind {
		return
	}
	if d.own != nil {
		h.endBody(d.own, nil) // before the Editor hears that the exchange is over
	}
	d.stream.mu.Lock()
	defer d.stream.mu.Unlock()
	if !d.stream.ended {
		h.does.ended(d.stream, nil)
	}
}
