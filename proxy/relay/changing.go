package relay

import "strconv"

// changed returns what is to be sent of an answer whose content is changed while it passes: its head, if that is there,
// and of the bytes b of its body, which was in that state before them, what the Change makes of the content.
func (a *answers) changed(head []byte, before body, b []byte) []byte {
	out := append([]byte(nil), head...)
	for len(b) > 0 {
		n, kind, err := before.next(b)
		if n == 0 || err != nil {
			break
		}
		if kind == pieceData {
			out = a.framed(out, a.edit.changed(a.by, b[:n], false))
		}
		b = b[n:]
	}
	if before.framing != framedChunked || !before.done() {
		return out
	}
	out = append(out, a.unchanged()...)
	out = append(out, "0\r\n"...)
	out = append(out, a.trailer...)
	return append(out, "\r\n"...)
}

// framed appends a piece of content to out as the framing of the answer asks.
func (a *answers) framed(out, p []byte) []byte {
	if len(p) == 0 {
		return out
	}
	if a.body.framing != framedChunked {
		return append(out, p...)
	}
	out = strconv.AppendInt(out, int64(len(p)), 16)
	out = append(out, "\r\n"...)
	out = append(out, p...)
	return append(out, "\r\n"...)
}

// unchanged ends the changing of an answer and returns what was kept back, framed.
func (a *answers) unchanged() []byte {
	by := a.by
	a.by = nil
	return a.framed(nil, a.edit.changed(by, nil, true))
}
