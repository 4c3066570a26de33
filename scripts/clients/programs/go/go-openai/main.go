// Runs one check with github.com/sashabaranov/go-openai and prints one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	openai "github.com/sashabaranov/go-openai"
)

type report struct {
	Text   string `json:"text"`
	Pieces int    `json:"pieces"`
	Error  string `json:"error,omitempty"`
}

const prompt = "How warm is it in Oslo?"

func main() {
	config := openai.DefaultConfig(os.Getenv("SLUICE_KEY"))
	config.BaseURL = os.Getenv("SLUICE_URL") + "/api/v1"
	client := openai.NewClientWithConfig(config)
	checks := map[string]func(*openai.Client, *report) error{"answer": answer, "stream": stream, "tools": tools}
	out := report{}
	if err := checks[os.Args[2]](client, &out); err != nil {
		out.Error = err.Error()
	}
	json.NewEncoder(os.Stdout).Encode(out)
}

func request() openai.ChatCompletionRequest {
	messages := []openai.ChatCompletionMessage{{Role: "user", Content: prompt}}
	return openai.ChatCompletionRequest{Model: os.Getenv("SLUICE_MODEL"), Messages: messages}
}

func answer(client *openai.Client, out *report) error {
	reply, err := client.CreateChatCompletion(context.Background(), request())
	if err != nil {
		return err
	}
	out.Text = reply.Choices[0].Message.Content
	return nil
}

func stream(client *openai.Client, out *report) error {
	chunks, err := client.CreateChatCompletionStream(context.Background(), request())
	if err != nil {
		return err
	}
	defer chunks.Close()
	for {
		chunk, err := chunks.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			out.Text += chunk.Choices[0].Delta.Content
			out.Pieces++
		}
	}
}

func tools(client *openai.Client, out *report) error {
	city := map[string]any{"city": map[string]any{"type": "string"}}
	asked := request()
	asked.Tools = []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{
		Name:       "temperature",
		Parameters: map[string]any{"type": "object", "properties": city},
	}}}
	first, err := client.CreateChatCompletion(context.Background(), asked)
	if err != nil {
		return err
	}
	message := first.Choices[0].Message
	arguments := struct{ City string }{}
	if err := json.Unmarshal([]byte(message.ToolCalls[0].Function.Arguments), &arguments); err != nil {
		return err
	}
	result := openai.ChatCompletionMessage{
		Role: "tool", ToolCallID: message.ToolCalls[0].ID, Content: arguments.City + ": 11 degrees",
	}
	asked.Messages = append(asked.Messages, message, result)
	second, err := client.CreateChatCompletion(context.Background(), asked)
	if err != nil {
		return err
	}
	out.Text = second.Choices[0].Message.Content
	return nil
}
