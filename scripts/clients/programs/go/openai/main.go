// Runs one check with github.com/openai/openai-go and prints one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

type report struct {
	Text   string `json:"text"`
	Pieces int    `json:"pieces"`
	Error  string `json:"error,omitempty"`
}

func (out *report) piece(text string) {
	if text != "" {
		out.Text += text
		out.Pieces++
	}
}

type check = func(context.Context, openai.Client, *report) error

const prompt = "How warm is it in Oslo?"

var model = os.Getenv("SLUICE_MODEL")
var parameters = openai.FunctionParameters{
	"type":       "object",
	"properties": map[string]any{"city": map[string]any{"type": "string"}},
}

func main() {
	client := openai.NewClient(
		option.WithBaseURL(os.Getenv("SLUICE_URL")+"/api/v1"),
		option.WithAPIKey(os.Getenv("SLUICE_KEY")),
	)
	surfaces := map[string]map[string]check{
		"chat":      {"answer": chatAnswer, "stream": chatStream, "tools": chatTools},
		"responses": {"answer": responsesAnswer, "stream": responsesStream, "tools": responsesTools},
	}
	out := report{}
	if err := surfaces[os.Args[1]][os.Args[2]](context.Background(), client, &out); err != nil {
		out.Error = err.Error()
	}
	json.NewEncoder(os.Stdout).Encode(out)
}

func temperature(arguments string) string {
	parsed := struct{ City string }{}
	json.Unmarshal([]byte(arguments), &parsed)
	return parsed.City + ": 11 degrees"
}

func chatParams() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
	}
}

func chatAnswer(ctx context.Context, client openai.Client, out *report) error {
	reply, err := client.Chat.Completions.New(ctx, chatParams())
	if err != nil {
		return err
	}
	out.piece(reply.Choices[0].Message.Content)
	return nil
}

func chatStream(ctx context.Context, client openai.Client, out *report) error {
	chunks := client.Chat.Completions.NewStreaming(ctx, chatParams())
	for chunks.Next() {
		if choices := chunks.Current().Choices; len(choices) > 0 {
			out.piece(choices[0].Delta.Content)
		}
	}
	return chunks.Err()
}

func chatTools(ctx context.Context, client openai.Client, out *report) error {
	params := chatParams()
	params.Tools = []openai.ChatCompletionToolUnionParam{
		openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "temperature", Parameters: parameters}),
	}
	first, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	message := first.Choices[0].Message
	call := message.ToolCalls[0]
	result := openai.ToolMessage(temperature(call.Function.Arguments), call.ID)
	params.Messages = append(params.Messages, message.ToParam(), result)
	second, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	out.piece(second.Choices[0].Message.Content)
	return nil
}

func responsesParams() responses.ResponseNewParams {
	input := responses.ResponseNewParamsInputUnion{OfString: openai.String(prompt)}
	return responses.ResponseNewParams{Model: model, Input: input}
}

func responsesAnswer(ctx context.Context, client openai.Client, out *report) error {
	reply, err := client.Responses.New(ctx, responsesParams())
	if err != nil {
		return err
	}
	out.piece(reply.OutputText())
	return nil
}

func responsesStream(ctx context.Context, client openai.Client, out *report) error {
	events := client.Responses.NewStreaming(ctx, responsesParams())
	isComplete := false
	for events.Next() {
		event := events.Current()
		switch event.Type {
		case "response.output_text.delta":
			out.piece(event.Delta)
		case "response.failed":
			return errors.New(event.Response.Error.Message)
		case "response.completed":
			isComplete = true
		}
	}
	if err := events.Err(); err != nil {
		return err
	}
	if !isComplete {
		return errors.New("no response.completed")
	}
	return nil
}

func responsesTools(ctx context.Context, client openai.Client, out *report) error {
	params := responsesParams()
	function := responses.FunctionToolParam{Name: "temperature", Parameters: parameters, Strict: openai.Bool(false)}
	params.Tools = []responses.ToolUnionParam{{OfFunction: &function}}
	first, err := client.Responses.New(ctx, params)
	if err != nil {
		return err
	}
	history := responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser),
	}
	for _, item := range first.Output {
		if call := item.AsFunctionCall(); item.Type == "function_call" {
			text := openai.String(temperature(call.Arguments))
			result := responses.ResponseInputItemFunctionCallOutputParam{
				CallID: openai.String(call.CallID),
				Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: text},
			}
			history = append(history,
				responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name),
				responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &result},
			)
		}
	}
	params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: history}
	second, err := client.Responses.New(ctx, params)
	if err != nil {
		return err
	}
	out.piece(second.OutputText())
	return nil
}
