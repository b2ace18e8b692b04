package web

import (
	"embed"
	"fmt"
	"net/http"

	"a2atap/analyzer/report/markup"
)

//go:embed page.html page.css page.js icon.svg
var files embed.FS

// handler answers all requests of the page.
func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", text("text/html; charset=utf-8", file("page.html")))
	mux.HandleFunc("GET /page.css", text("text/css; charset=utf-8", markup.Style()+file("page.css")))
	mux.HandleFunc("GET /page.js", text("text/javascript; charset=utf-8", markup.Reveal()+file("page.js")))
	mux.HandleFunc("GET /icon.svg", text("image/svg+xml", file("icon.svg")))
	mux.HandleFunc("GET /api/events", s.events)
	mux.HandleFunc("GET /api/list", answer(s.list))
	mux.HandleFunc("GET /api/part", answer(s.part))
	mux.HandleFunc("GET /api/exchange", answer(s.exchange))
	mux.HandleFunc("GET /api/group", answer(s.group))
	mux.HandleFunc("GET /api/agents", answer(s.agents))
	mux.HandleFunc("POST /api/send", answer(s.send))
	return mux
}

func file(name string) string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is built in
	}
	return string(data)
}

// text answers with static content.
func text(media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		fmt.Fprint(w, body)
	}
}
