package neighbor

import (
	"strconv"
	"strings"

	"a2atap/proxy/jsondoc"
)

// gemini is Google's Gemini, also on Vertex.
var gemini = protocol{
	name: "gemini", kind: Model, recognize: recognizeGemini, answer: readGemini,
	event: func(r *Reader, _ string, v jsondoc.Value) { readGemini(r, v) },
}

var geminiMethods = map[string]string{
	"generateContent": "generate_content", "streamGenerateContent": "generate_content", "countTokens": "count_tokens",
	"embedContent": "embeddings", "batchEmbedContents": "embeddings",
}

func recognizeGemini(c *Call, r *Request, path string) bool {
	colon := strings.LastIndexByte(path, ':')
	if colon < 0 || r.Method != "POST" {
		return false
	}
	operation := geminiMethods[path[colon+1:]]
	at := strings.LastIndex(path[:colon], "/models/")
	if operation == "" || at < 0 {
		return false
	}
	contents := r.Body.Get("contents")
	c.Operation, c.Subject, c.Messages = operation, clip(path[at+len("/models/"):colon]), contents.Len()
	for i, tool := range r.Body.Get("tools").Elems() {
		if i == maxLook {
			break
		}
		c.Tools += tool.Get("functionDeclarations").Len() + tool.Get("function_declarations").Len()
	}
	for _, content := range contents.Elems() {
		for _, part := range content.Get("parts").Elems() {
			c.answered(part.Get("functionResponse").Get("id"))
		}
	}
	return true
}

// readGemini reads an answer, or a chunk of one.
func readGemini(r *Reader, v jsondoc.Value) {
	usage := v.Get("usageMetadata")
	r.tokens(usage.Get("promptTokenCount"), usage.Get("candidatesTokenCount"))
	if n, ok := v.Get("totalTokens").Int(); ok { // a count
		r.Input = max(n, 0)
	}
	candidate := v.Get("candidates").Elem(0)
	for _, part := range candidate.Get("content").Get("parts").Elems() {
		r.say(part.Get("text"))
		if f := part.Get("functionCall"); f.Exists() { // always whole
			r.call(strconv.Itoa(len(r.parts)), f.Get("id"), f.Get("name"), f.Get("args"))
		}
	}
	r.finish(candidate.Get("finishReason"))
	if why := clipped(v.Get("promptFeedback").Get("blockReason")); why != "" {
		r.fail("refused: " + why)
	}
}
