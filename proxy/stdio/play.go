package stdio

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
)

// The first byte that a player sends.
const (
	playsTool = 'p' // it answers instead of the tool
	runsTool  = 'r' // the tool is to run
)

// Ask tells a player about a tool, and reports whether the player answers instead. Then the client's messages go to the
// connection, and those of the server come from it.
func Ask(conn net.Conn, h Hello) (plays bool, err error) {
	text, err := json.Marshal(h)
	if err != nil {
		return false, err
	}
	frame := binary.BigEndian.AppendUint32([]byte{frameHello}, uint32(len(text))) //nolint:gosec // a name and numbers
	if _, err := conn.Write(append(frame, text...)); err != nil {
		return false, err
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return false, fmt.Errorf("the player has not answered: %w", err)
	}
	return answer[0] == playsTool, nil
}

// Greet reads what Ask sends, and answers. It returns the rest of what comes from the client.
func Greet(conn net.Conn, plays func(Hello) bool) (h Hello, rest *bufio.Reader, err error) {
	rest = bufio.NewReaderSize(conn, chunk)
	kind, content, err := readFrame(rest, nil)
	if err != nil {
		return h, nil, err
	}
	if kind != frameHello || json.Unmarshal(content, &h) != nil {
		return h, nil, errors.New("the connection does not begin with facts about the tool")
	}
	answer := byte(runsTool)
	if plays(h) {
		answer = playsTool
	}
	_, err = conn.Write([]byte{answer})
	return h, rest, err
}
