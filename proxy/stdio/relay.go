package stdio

import "os"

// Pass passes the bytes of a side on, unmodified, until the side ends or no one reads them any more; it then closes both
// files, so that the other end notices. The feed, which may be nil, gets a copy of each piece before the piece is passed
// on.
func Pass(from, to *os.File, side Side, feed *Feed) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, chunk)
	for awaitInput(from, to) {
		n, err := from.Read(buf)
		if n > 0 {
			feed.Passed(side, buf[:n])
			if _, err := to.Write(buf[:n]); err != nil {
				break
			}
		}
		if err != nil {
			feed.ended(side)
			return
		}
	}
	feed.ended(1 - side) // it reads nothing more
}
