package agents

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/refagent"
)

const skillCard = `{"name":"Travel","description":"d","version":"1","capabilities":{"streaming":true},
	"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
	"skills":[{"id":"book","name":"Booking","description":"Books.","tags":["travel"]}]}`

// TestMain is also the program that the tests give a skill to: what it does, the text says.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "book" {
		os.Exit(m.Run())
	}
	var asked task
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	switch _, text, _ := strings.Cut(asked.Text, " "); text {
	case "at once":
		fmt.Printf(`{"text":"%s for %s"}`, asked.Skill, asked.TaskID)
	case "later":
		fmt.Println(`{"state":"working","text":"looking"}` + "\n\n" +
			`{"artifact":{"name":"seat","text":"12","more":true}}` + "\n" + `{"artifact":{"name":"seat","text":"A"}}` + "\n" +
			`{"artifact":{"name":"price","data":{"eur":90}}}` + "\n" + `{"state":"completed","text":"booked"}`)
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		<-signals // programs that continue after the end get a signal
	case "ask":
		fmt.Println(`{"state":"input-required","text":"when?"}`)
	case "wait":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		fmt.Println(`{"state":"working"}`)
		<-signals
		os.WriteFile(os.Args[2], []byte("told"), 0o600)
	case "fail":
		fmt.Fprintln(os.Stderr, "looked everywhere\nno seats")
		os.Exit(1)
	case "babble":
		fmt.Println("booking…")
	case "misspell":
		fmt.Println(`{"state":"done"}`)
	case "long":
		fmt.Println(strings.Repeat("x", 2*maxLine))
	default:
		fmt.Printf(`{"state":"completed","text":"turn %d: %s"}`, asked.Turn, asked.Text)
	}
	os.Exit(0)
}

// startBooking starts an agent whose one skill is a program, and returns a client for it, and what ends the agent. The
// program writes to a file that it was told to end.
func startBooking(t *testing.T, told string) (c *client.Client, end func()) {
	t.Helper()
	list := must.Get(skills([]string{"book=" + os.Args[0] + " book " + told}))(t)
	a, err := refagent.New("spec", refagent.Options{Card: []byte(skillCard), Skills: list})
	must.Do(t, err)
	server := httptest.NewServer(a)
	end = func() { a.Close(); server.Close() }
	t.Cleanup(end)
	c, err = client.New(client.Interface{URL: server.URL + a.Path(), Protocol: client.JSONRPC10}, client.Options{})
	must.Do(t, err)
	t.Cleanup(c.Close)
	return c, end
}

func TestSkillPrograms(t *testing.T) {
	c, _ := startBooking(t, t.TempDir()+"/told")
	for text, want := range map[string][]string{
		"at once":  {"TASK_STATE_COMPLETED", `"book for `},
		"fail":     {"TASK_STATE_FAILED", `"no seats"`},
		"babble":   {"TASK_STATE_FAILED", "the program of skill book wrote a line that is not a step", "booking…"},
		"misspell": {"TASK_STATE_FAILED", `no state \"done\"; use working, completed`},
		"long":     {"TASK_STATE_FAILED", "wrote a line that is not a step: a line of more than 1048576 bytes"},
		"later":    {"TASK_STATE_COMPLETED", `"booked"`, `{"text":"12"},{"text":"A"}`, `{"data":{"eur":90}}`},
	} {
		r := must.Get(c.Send(t.Context(), client.Text("book "+text), client.SendOptions{}))(t)
		for _, w := range want {
			if !strings.Contains(string(r.Raw), w) {
				t.Errorf("%s: got %s, want %s in it", text, r.Raw, w)
			}
		}
	}
}

// What a program says comes as events, and what it asks back is answered to another run of it.
func TestSkillProgramsGoOn(t *testing.T) {
	c, _ := startBooking(t, t.TempDir()+"/told")
	var seen []string
	for e, err := range c.Stream(t.Context(), client.Text("book later"), client.SendOptions{}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Status != nil:
			seen = append(seen, string(e.Status.Status.State))
		case e.Artifact != nil:
			seen = append(seen, e.Artifact.Artifact.ID)
		}
	}
	expect.Equal(t, "events", "working seat-1 seat-1 price-1 completed", strings.Join(seen, " "))
	r, err := c.Send(t.Context(), client.Text("book ask"), client.SendOptions{})
	if err != nil || r.Task == nil || r.Task.Status.State != client.InputRequired {
		t.Fatalf("asked back: %+v, %v", r, err)
	}
	m := client.Text("on Monday")
	m.TaskID = r.Task.ID
	if r, err = c.Send(t.Context(), m, client.SendOptions{}); err != nil ||
		!strings.Contains(string(r.Raw), "turn 2: on Monday") {
		t.Errorf("answered: %s, %v", r.Raw, err)
	}
}

func TestSkillFlags(t *testing.T) {
	for flag, want := range map[string]string{
		"book": "write ID=PROGRAM", "=sh": "write ID=PROGRAM", "book= ": "write ID=PROGRAM",
		"book=no-such-program-here": "--skill book: ",
	} {
		if _, err := skills([]string{flag}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", flag, err)
		}
	}
	list, err := skills([]string{"fly=" + os.Args[0]})
	must.Do(t, err)
	_, err = refagent.New("spec", refagent.Options{Card: []byte(skillCard), Skills: list})
	if err == nil || !strings.Contains(err.Error(), `no skill "fly" in the card; it has book`) {
		t.Errorf("a skill that the card lacks: %v", err)
	}
}
