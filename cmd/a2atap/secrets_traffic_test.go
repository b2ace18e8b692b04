package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/must"
)

// sown are secrets that were put into traffic, and where.
type sown struct {
	places []string
	basic  map[string]int // by user and password as Basic writes them
}

// in puts a secret of its own for each "§" in a text, and one with a user name as Basic writes it for each "‡".
func (s *sown) in(place, text string) string {
	return regexp.MustCompile("[§‡]").ReplaceAllStringFunc(text, func(mark string) string {
		s.places = append(s.places, fmt.Sprintf("%s %d", place, len(s.places)))
		secret := fmt.Sprintf("s3c-%03d-q%06x", len(s.places)-1, len(s.places)*7919)
		if mark == "§" {
			return secret
		}
		basic := base64.StdEncoding.EncodeToString([]byte("user:" + secret))
		s.basic[basic] = len(s.places) - 1
		return basic
	})
}

var aSecret = regexp.MustCompile(`s3c-(\d{3})-q[0-9a-f]{6}`)

// found returns the original places of the secrets that a text contains.
func (s *sown) found(text string) (places []string) {
	for _, m := range aSecret.FindAllStringSubmatch(text, -1) {
		n := 0
		fmt.Sscan(strings.TrimLeft(m[1], "0"), &n) //nolint:errcheck // 000 is 0
		places = append(places, s.places[n])
	}
	for basic, n := range s.basic {
		if strings.Contains(text, basic) {
			places = append(places, s.places[n])
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// A sending is an exchange as bytes: what the client sends, and what the agent answers on that path.
type sending struct{ Path, Request, Answer string }

// sendings returns exchanges with secrets in all places. target precedes the path in a request line.
func (s *sown) sendings(way, target, host string) []sending {
	message := func(name, line, fields, body string) string {
		return fmt.Sprintf("%s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", line,
			s.in(way+" head "+name, fields), len(body), body)
	}
	var all []sending
	add := func(path, query, fields, body, answerFields, answer string) {
		method := "POST"
		if body == "" {
			method = "GET"
		}
		path = "/" + way + path
		line := method + " " + target + path + s.in(way+" query "+path, query) + " HTTP/1.1"
		all = append(all, sending{
			Path:    path,
			Request: message(path, line, "Host: "+host+"\r\n"+fields, s.in(way+" body "+path, body)),
			Answer:  message(path, "HTTP/1.1 200 OK", answerFields, s.in(way+" answer "+path, answer)),
		})
	}
	const isJSON = "Content-Type: application/json\r\n"
	add("/rpc", "?token=§&sid=§&otp=§&pin=§&x=1",
		isJSON+"Authorization: Bearer §\r\nX-Api-Key: §\r\nCookie: session=§; other=\r\nX-Session-Id: §\r\n"+
			"X-A2A-Notification-Token: §\r\nReferer: http://u:§@h/?access_token=§\r\n",
		`[{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"configuration":{"taskPushNotificationConfig":`+
			`{"url":"http://127.0.0.1:9/","token":"§","authentication":{"scheme":"Bearer","credentials":"§"}}},`+
			`"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"see https://h/a?key=§ or say Bearer §"},`+
			`{"data":{"password":"§","x":[{"apiKey":"§"},{"secrets":["§"]}]}}]}}},`+
			`{"jsonrpc":"2.0","id":2,"method":"x/y","params":{"a":{"token":"§"}}}]`,
		isJSON+"Set-Cookie: a=§; Path=/\r\nX-Auth-Token: §\r\n",
		`[{"jsonrpc":"2.0","id":1,"result":{"access_token":"§","headers":[{"name":"X-Api-Key","value":"§"}]}}]`)
	add("/form", "", "Content-Type: application/x-www-form-urlencoded\r\n",
		"grant_type=password&client_secret=§&password=§",
		"Content-Type: text/xml\r\n", `<a token="§"><x:password>§</x:password></a>`)
	add("/parts", "", "Content-Type: multipart/form-data; boundary=b\r\n",
		"--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n§\r\n"+
			"--b\r\nContent-Type: application/json\r\n\r\n{\"token\":\"§\"}\r\n--b--\r\n",
		"Content-Type: text/plain\r\n", "token: §\nuse Bearer §\n")
	add("/broken", "", isJSON, `{"password":"§","x":[`, isJSON, `{"credentials":{"a":"§"},"args":"{\"secret\":\"§\"}"}`)
	trailed := &all[len(all)-1]
	trailed.Answer = s.in(way+" early", "HTTP/1.1 103 Early Hints\r\nSet-Cookie: a=§\r\n\r\n") +
		strings.Replace(trailed.Answer, "\r\nContent-Length: ", "\r\nX-Length: ", 1)
	add("/stream", "", "Authorization: Basic ‡\r\n", "", "", "")
	all[len(all)-1].Answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n" +
		"Connection: close\r\n\r\n" + chunk(s.in(way+" stream", "data: {\"x\":{\"secret\":\"§\"}}\n\n")) +
		chunk(s.in(way+" stream", ": token=§\n\ndata: use Bearer §\n\n")) + "0\r\n" +
		s.in(way+" trailer", "X-Sum-Token: §\r\n") + "\r\n"
	add("/.well-known/agent-card.json", "", "", "", isJSON, `{"name":"a","version":"1","securitySchemes":{"k":`+
		`{"apiKeySecurityScheme":{"name":"X-Booking","location":"header"}},"q":{"apiKeySecurityScheme":{"name":"seat",`+
		`"location":"query"}}}}`)
	add("/named", "?seat=§", "X-Booking: §\r\n", "", "WWW-Authenticate: Negotiate §\r\n", "")
	return all
}

func chunk(data string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(data), data) }

// A cannedAgent answers requests with the bytes that belong to their path.
type cannedAgent struct {
	mu      sync.Mutex
	answers map[string]string
}

func (a *cannedAgent) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			in := bufio.NewReader(conn)
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if r.Method == "PRI" { // the preface of HTTP/2, whose request is read and not answered
				readFrames(in)
				return
			}
			io.Copy(io.Discard, r.Body) //nolint:errcheck // the request is what it is
			a.mu.Lock()
			answer := a.answers[r.URL.Path]
			a.mu.Unlock()
			io.WriteString(conn, answer) //nolint:errcheck // the client is missed then
		}()
	}
}

// readFrames reads what follows the head of the preface, until a stream ends.
func readFrames(r *bufio.Reader) {
	if _, err := r.Discard(len("SM\r\n\r\n")); err != nil {
		return
	}
	for frames := http2.NewFramer(io.Discard, r); ; {
		f, err := frames.ReadFrame()
		if err != nil {
			return
		}
		if data, ok := f.(*http2.DataFrame); ok && data.StreamEnded() {
			return
		}
	}
}

func (a *cannedAgent) add(all []sending) []sending {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range all {
		a.answers[s.Path] = s.Answer
	}
	return all
}

// rawCall sends bytes and returns what comes back until the end.
func rawCall(conn net.Conn, err error, request string) (string, error) {
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(must.Patience)) //nolint:errcheck // a connection that is open
	if _, err := io.WriteString(conn, request); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// sends is a program that sends what a file says through the proxy of its environment.
func sends() {
	err := func() error {
		text, err := os.ReadFile(os.Args[1])
		if err != nil {
			return err
		}
		var all []sending
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
		through, err := url.Parse(os.Getenv("HTTP_PROXY"))
		if err != nil {
			return err
		}
		for _, s := range all {
			conn, err := net.Dial("tcp", through.Host)
			answer, err := rawCall(conn, err, s.Request)
			if err != nil || answer != s.Answer {
				return fmt.Errorf("%s: got %q, %v", s.Path, answer, err)
			}
		}
		return nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sender:", err)
		os.Exit(1)
	}
}
