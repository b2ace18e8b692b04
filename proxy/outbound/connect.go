package outbound

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// maxConnectHead bounds the head of a proxy's answer, in bytes.
const maxConnectHead = 64 << 10

var errConnectHead = errors.New("its answer is not HTTP/1 (RFC 9112 section 4)")

// connect asks an HTTP proxy for a tunnel to an agent: RFC 9110 section 9.3.6.
func connect(conn net.Conn, via *url.URL, address string) error {
	request := "CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\n"
	if via.User != nil { // RFC 7617
		password, _ := via.User.Password()
		credentials := base64.StdEncoding.EncodeToString([]byte(via.User.Username() + ":" + password))
		request += "Proxy-Authorization: Basic " + credentials + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return err
	}
	status, err := readConnected(conn)
	switch {
	case err != nil:
		return err
	case status < 200 || status > 299:
		return &ProxyError{
			Status: status,
			text: fmt.Sprintf("the upstream proxy %s refuses to connect to %s: %d %s", via.Host, address, status,
				http.StatusText(status)),
		}
	}
	return nil
}

// readConnected reads the head of a proxy's answer to CONNECT, and not a byte beyond it: what follows is the agent's. It
// returns the status. Interim answers are passed over.
func readConnected(from io.Reader) (status int, err error) {
	for total := 0; ; {
		head, err := readHead(from, maxConnectHead-total)
		if err != nil {
			return 0, err
		}
		total += len(head)
		answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)),
			&http.Request{Method: http.MethodConnect})
		if err != nil {
			return 0, errConnectHead
		}
		answer.Body.Close()
		if answer.StatusCode >= 200 || answer.StatusCode == http.StatusSwitchingProtocols {
			return answer.StatusCode, nil
		}
	}
}

// readHead reads to the first blank line, byte by byte: it is one short head for each connection.
func readHead(from io.Reader, limit int) ([]byte, error) {
	var head []byte
	one := make([]byte, 1)
	for len(head) < limit {
		if _, err := io.ReadFull(from, one); err != nil {
			if err == io.EOF {
				err = errors.New("it closed the connection without an answer")
			}
			return nil, err
		}
		head = append(head, one[0])
		if bytes.HasSuffix(head, []byte("\n\r\n")) || bytes.HasSuffix(head, []byte("\n\n")) {
			return head, nil
		}
	}
	return nil, errConnectHead
}
