package markup

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"

	"a2atap/analyzer/analysis"
)

// style is how all pages look: in light and dark, on a telephone and on paper.
//
//go:embed style.css
var style string

// reveal is the part of scripts that finds the element that an address names, and shows it.
//
//go:embed reveal.js
var reveal string

//go:embed narrow.js
var narrowing string

// narrow is the script of a page with many parts.
var narrow = reveal + narrowing

// Style is how all pages look, as CSS, for a page that is served.
func Style() string { return style }

// Reveal is the beginning of the script of a page that is served, which shows parts of a report: nearest(id, within)
// finds the element that an address names, or the one around it, and light(element) opens the folded elements around it
// and goes there. For printing, everything is opened.
func Reveal() string { return reveal }

// Page parses the template of a page, which fetches nothing: its policy (Content Security Policy Level 3) lets in its
// own style, and the one script that it has, if any. The template has these functions:
//
//	clean TEXT   the text without what a terminal or a page would obey
//	head TITLE   the beginning of the page, up to the end of the element head
//	narrowing    the script, which makes an element with the id narrow filter those with the class item, opens what the
//	             address names, and opens everything for printing
//
// The template escapes the page's contents. It panics if the template cannot be parsed.
func Page(text string) *template.Template {
	return template.Must(template.Must(template.New("page").Funcs(template.FuncMap{
		"clean":     analysis.Clean,
		"style":     func() template.CSS { return template.CSS(style) },
		"narrowing": func() template.HTML { return template.HTML("<script>" + narrow + "</script>") },
		"policy":    func() string { return policy },
	}).Parse(text)).Parse(headText))
}

// policy permits the inline contents of pages by the digests of their texts.
var policy = "default-src 'none'; style-src '" + digest("\n"+style) + "'; script-src '" + digest(narrow) +
	"'; base-uri 'none'; form-action 'none'"

// digest returns the source expression of an inline element (Content Security Policy Level 3 §2.3.1).
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

const headText = `{{define "head"}}<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{policy}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{clean .}}</title>
<style>
{{style}}</style>
</head>
{{end}}`
