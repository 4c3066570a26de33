//! Runs one check with async-openai and prints one line of JSON.

use async_openai::types::chat::{CreateChatCompletionRequest, CreateChatCompletionStreamResponse};
use async_openai::types::responses::{CreateResponse, Response, ResponseStreamEvent};
use futures::StreamExt;
use serde_json::{Value, json};
use std::{env, error::Error, fmt::Display, time::Duration};

type Outcome = Result<(), Box<dyn Error>>;
const PROMPT: &str = "How warm is it in Oslo?";
/// A caller that goes on polling after an error sees whether the client connects again.
const AFTER_ERROR: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Out {
    text: String,
    pieces: u32,
}

impl Out {
    fn piece(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.pieces += 1;
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = env::args().collect();
    let mut out = Out::default();
    let outcome = match (arguments[1].as_str(), arguments[2].as_str()) {
        ("chat", "answer") => chat_answer(&mut out).await,
        ("chat", "stream") => chat_stream(&mut out).await,
        ("chat", "tools") => chat_tools(&mut out).await,
        ("reconnecting", "answer") => reconnecting_answer(&mut out).await,
        ("reconnecting", "stream") => reconnecting_stream(&mut out).await,
        ("responses", "answer") => responses_answer(&mut out).await,
        ("responses", "stream") => responses_stream(&mut out).await,
        ("responses", "tools") => responses_tools(&mut out).await,
        _ => Err("no such check".into()),
    };
    let error = outcome.err().map(|error| error.to_string());
    println!("{}", json!({"text": out.text, "pieces": out.pieces, "error": error}));
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn client() -> async_openai::Client<async_openai::config::OpenAIConfig> {
    let config = async_openai::config::OpenAIConfig::new()
        .with_api_base(variable("SLUICE_URL") + "/api/v1")
        .with_api_key(variable("SLUICE_KEY"));
    async_openai::Client::with_config(config)
}

fn temperature(arguments: &str) -> Result<String, serde_json::Error> {
    let arguments: Value = serde_json::from_str(arguments)?;
    Ok(format!("{}: 11 degrees", arguments["city"].as_str().unwrap_or_default()))
}

fn chat_body(messages: Value) -> Value {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let function = json!({"name": "temperature", "parameters": parameters});
    json!({
        "model": variable("SLUICE_MODEL"),
        "messages": messages,
        "tools": [{"type": "function", "function": function}],
    })
}

fn asked() -> Value {
    json!({"role": "user", "content": PROMPT})
}

async fn chat(messages: Value) -> Result<Value, Box<dyn Error>> {
    let request: CreateChatCompletionRequest = serde_json::from_value(chat_body(messages))?;
    let reply = client().chat().create(request).await?;
    Ok(serde_json::to_value(reply)?["choices"][0]["message"].clone())
}

async fn chat_answer(out: &mut Out) -> Outcome {
    out.piece(chat(json!([asked()])).await?["content"].as_str().unwrap_or_default());
    Ok(())
}

async fn chat_tools(out: &mut Out) -> Outcome {
    let message = chat(json!([asked()])).await?;
    let call = &message["tool_calls"][0];
    let content = temperature(call["function"]["arguments"].as_str().unwrap_or_default())?;
    let result = json!({"role": "tool", "tool_call_id": call["id"], "content": content});
    let last = chat(json!([asked(), message, result])).await?;
    out.piece(last["content"].as_str().unwrap_or_default());
    Ok(())
}

async fn chat_stream(out: &mut Out) -> Outcome {
    let request: CreateChatCompletionRequest = serde_json::from_value(chat_body(json!([asked()])))?;
    let chunks = client().chat().create_stream(request).await?;
    read(out, chunks, |chunk: CreateChatCompletionStreamResponse| {
        let delta = chunk.choices.first().and_then(|choice| choice.delta.content.clone());
        delta.unwrap_or_default()
    })
    .await
}

fn reconnecting() -> reconnecting::Client<reconnecting::config::OpenAIConfig> {
    let config = reconnecting::config::OpenAIConfig::new()
        .with_api_base(variable("SLUICE_URL") + "/api/v1")
        .with_api_key(variable("SLUICE_KEY"));
    reconnecting::Client::with_config(config)
}

async fn reconnecting_answer(out: &mut Out) -> Outcome {
    let request: reconnecting::types::CreateChatCompletionRequest =
        serde_json::from_value(chat_body(json!([asked()])))?;
    let reply = reconnecting().chat().create(request).await?;
    out.piece(reply.choices[0].message.content.as_deref().unwrap_or_default());
    Ok(())
}

async fn reconnecting_stream(out: &mut Out) -> Outcome {
    let request: reconnecting::types::CreateChatCompletionRequest =
        serde_json::from_value(chat_body(json!([asked()])))?;
    let chunks = reconnecting().chat().create_stream(request).await?;
    read(out, chunks, |chunk: reconnecting::types::CreateChatCompletionStreamResponse| {
        let delta = chunk.choices.first().and_then(|choice| choice.delta.content.clone());
        delta.unwrap_or_default()
    })
    .await
}

/// Reads all of a stream, and beyond its first error, as a caller that only logs errors does.
async fn read<T, E: Display>(
    out: &mut Out,
    mut stream: impl futures::Stream<Item = Result<T, E>> + Unpin,
    text_of: impl Fn(T) -> String,
) -> Outcome {
    let mut errors = Vec::new();
    loop {
        let next = match errors.is_empty() {
            true => stream.next().await,
            false => match tokio::time::timeout(AFTER_ERROR, stream.next()).await {
                Ok(next) => next,
                Err(_) => break,
            },
        };
        match next {
            None => break,
            Some(Ok(chunk)) => out.piece(&text_of(chunk)),
            Some(Err(error)) => errors.push(error.to_string()),
        }
        if errors.len() > 20 {
            break;
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join(" | ").into()) }
}

async fn respond(input: Value) -> Result<Response, Box<dyn Error>> {
    Ok(client().responses().create(response_request(input)?).await?)
}

fn response_request(input: Value) -> Result<CreateResponse, serde_json::Error> {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    serde_json::from_value(json!({
        "model": variable("SLUICE_MODEL"),
        "input": input,
        "tools": [{"type": "function", "name": "temperature", "parameters": parameters, "strict": false}],
    }))
}

async fn responses_answer(out: &mut Out) -> Outcome {
    let reply = respond(json!(PROMPT)).await?;
    out.piece(&reply.output_text().unwrap_or_default());
    Ok(())
}

async fn responses_tools(out: &mut Out) -> Outcome {
    let first = serde_json::to_value(respond(json!(PROMPT)).await?)?;
    let output = first["output"].as_array().cloned().unwrap_or_default();
    let call = output.iter().find(|item| item["type"] == "function_call").ok_or("no call")?;
    let text = temperature(call["arguments"].as_str().unwrap_or_default())?;
    let result = json!({"type": "function_call_output", "call_id": call["call_id"], "output": text});
    let message = json!({"type": "message", "role": "user", "content": PROMPT});
    let last = respond(json!([message, call, result])).await?;
    out.piece(&last.output_text().unwrap_or_default());
    Ok(())
}

async fn responses_stream(out: &mut Out) -> Outcome {
    let mut events = client().responses().create_stream(response_request(json!(PROMPT))?).await?;
    let mut is_complete = false;
    while let Some(event) = events.next().await {
        match event? {
            ResponseStreamEvent::ResponseOutputTextDelta(event) => out.piece(&event.delta),
            ResponseStreamEvent::ResponseCompleted(_) => is_complete = true,
            ResponseStreamEvent::ResponseFailed(event) => {
                return Err(format!("{:?}", event.response.error).into());
            }
            _ => {}
        }
    }
    if is_complete { Ok(()) } else { Err("no response.completed".into()) }
}
