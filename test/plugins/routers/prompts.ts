import type { Task } from '../../../src/plugins/routers/words.ts'

/** A prompt with what its author says it asks for; hard: a small model is likely to fail. */
export interface Labelled {
  readonly task: Task
  readonly isHard: boolean
  readonly prompt: string
}

const of = (task: Task, isHard: boolean, prompts: readonly string[]): Labelled[] =>
  prompts.map((prompt) => ({ task, isHard, prompt }))

/** Written for this repository. The words of the classifier were tuned with them. */
export const PROMPTS: readonly Labelled[] = [
  ...of('code', false, [
    'Write a Python function that reverses a string.',
    'How do I center a div with CSS?',
    'What does git rebase do?',
    'Convert this SQL query to use a join: SELECT * FROM a, b WHERE a.id = b.a_id',
    'Give me a bash one-liner that counts lines in all .txt files.',
    'Fix this: ```js\nfor (let i = 0; i <= arr.length; i++) console.log(arr[i].name)\n```',
    'How can I parse a date in Java?',
    'What is the difference between let and const in JavaScript?',
    'Write a Dockerfile for a node app.',
    'Show me how to read a csv file with pandas.',
    'My unit test fails with "expected 3 to be 4", here is the code: `sum(1, 2)`',
    'Write a regex that matches an ISO date.',
  ]),
  ...of('code', true, [
    'Design a distributed rate limiter in Go that survives the loss of a node; explain the consensus and race conditions.',
    'Refactor this multithreaded C++ queue so that it is lock free, and explain why there is no ABA problem.',
    'Our Postgres migration deadlocks under load. Analyze the cause step by step and design an idempotent fix for concurrent writers.',
    'Debug this Rust async code: it hangs because of a deadlock between two mutexes; prove that your fix is correct and handle all edge cases.',
    'Implement a B-tree with concurrent inserts in Java, optimize for cache misses, and analyze its asymptotic complexity.',
    'Compare event sourcing and CRUD for a scalable payment backend, with an architecture, constraints and tradeoffs in TypeScript code.',
  ]),
  ...of('math', false, [
    'What is 15 % of 240?',
    'Solve the equation 3x + 5 = 20.',
    'Calculate the area of a circle with radius 4.',
    'What is the derivative of x^2?',
    'How many seconds are there in 3 hours? Compute 3 * 3600.',
    'Find the average of 4, 8, 15, 16, 23 and 42.',
    'If two dice are rolled, what is the probability of a sum of 7?',
    'What is the square root of 144?',
    'A train covers 120 km in 2 hours. What is its speed? 120 / 2 = ?',
    'Is 97 a prime number?',
  ]),
  ...of('math', true, [
    'Prove that the square root of 2 is irrational, and generalize the proof to every prime.',
    'Derive the expected number of coin tosses until two heads in a row, rigorous and step by step.',
    'Prove that every bounded monotone sequence converges, and show why the lemma is exactly what completeness means.',
    'Compute the integral of e^(-x^2) over the real line and justify each step of the derivation.',
    'Find all eigenvalues of this matrix and prove that it is diagonalizable: [[2, 1], [1, 2]].',
    'Use combinatorics to prove the identity for the sum of squared binomials, and explain why it holds.',
  ]),
  ...of('writing', false, [
    'Write a haiku about autumn.',
    'Draft a short email to my landlord about a broken heater.',
    'Write a catchy slogan for a coffee shop.',
    'Rewrite this paragraph in a friendlier tone: We regret to inform you that your order is late.',
    'Write a birthday poem for my grandmother.',
    'Compose a tweet announcing our new product.',
    'Write a bedtime story about a dragon who is afraid of fire.',
    'Proofread this letter, please: Dear Sir, I am write to you about the job.',
    'Give me a headline for an article about bees.',
    'Write a cover letter for a junior accountant.',
    'A limerick about a cat, please.',
    'Write a toast for my brother’s wedding.',
  ]),
  ...of('extraction', false, [
    'Summarize the following text in three bullets: The council met on Tuesday to discuss the budget.',
    'Extract all names and dates from this email: Anna meets Bob on May 3.',
    'Classify the sentiment of this review as positive or negative: The food was cold.',
    'TLDR of this article: The bridge was closed after the storm.',
    'List the key points of the transcript below.',
    'Turn this invoice into JSON with the fields number, date and total: Invoice 42, 2026-01-01, $10.',
    'Categorize these tickets by topic: login fails, invoice wrong, app is slow.',
    'Which entities are mentioned in this passage? Apple hired Jane Doe in Berlin.',
    'Give me a summary of the minutes of yesterday: present were Tom and Ada.',
    'Is the following text spam? You won a prize.',
    'Extract the phone numbers as CSV: call 555-1234 or 555-9876.',
    'Outline the document below in bullet points.',
  ]),
  ...of('translation', false, [
    'Translate "good morning" into French.',
    'How do you say thank you in Japanese?',
    'Translate this sentence to German: The train is late.',
    'What does "Schadenfreude" mean in English? Give a translation.',
    'Translate the following paragraph into Spanish: We open at nine.',
    'Traduis en anglais : il fait beau.',
    'Please translate this email into Portuguese: See you tomorrow.',
    'Into Italian: where is the station?',
  ]),
  ...of('chat', false, [
    'Hi!',
    'Hello, how are you today?',
    'What is the capital of France?',
    'Tell me a joke.',
    'Thanks, that helped.',
    'Who won the world cup in 1998?',
    'What should I cook tonight?',
    'Recommend a good film for a rainy evening.',
    'Why is the sky blue?',
    'What is your name?',
    'Do cats dream?',
    'When did the Roman empire fall?',
    'Can you help me choose a gift for my dad?',
    'What are the symptoms of a cold?',
  ]),
  ...of('chat', true, [
    'Critique the legal and medical argument for mandatory vaccination: compare several ethical theories, weigh the evidence and justify a nuanced position with its implications.',
    'Analyze the contradictions in the monetary strategy of the 1970s, argue from evidence, and evaluate the implications for a small open economy today.',
    'Plan a detailed strategy for entering the Brazilian market with legal constraints, several budgets, risks and tradeoffs; justify each step.',
  ]),
]

/** Written afterwards, and not used to tune anything. */
export const HELD_OUT: readonly Labelled[] = [
  ...of('code', false, [
    'My npm install prints ERESOLVE, what do I do?',
    'Add a loading spinner to this React component.',
    'Explain what this shell command does: tar -xzf a.tgz -C /opt',
    'Write a test for the login endpoint.',
    'How to sort a map by value in Kotlin',
  ]),
  ...of('code', true, [
    'Find the memory leak in this C++ server and explain why the throughput collapses under concurrent load; propose a lock-free design',
    'Write a compiler pass in Rust that does register allocation with graph colouring, handle spills and analyze complexity',
  ]),
  ...of('math', false, [
    'What is 7 times 8?',
    'Find x if 2x = 18',
    'How much interest do I pay on $1000 at 5% for 2 years?',
    'What is the volume of a sphere of radius 3?',
  ]),
  ...of('math', true, [
    'Show that there are infinitely many primes of the form 4k+3. Give a rigorous proof.',
    'Prove by induction that the sum of the first n cubes is the square of the nth triangular number, then derive the formula for fourth powers',
  ]),
  ...of('writing', false, [
    'Write a LinkedIn post about my new job',
    'I need a wedding speech, funny but short',
    'Make this sentence sound more professional: gimme the report asap',
    'Compose lyrics for a country song about rain',
    'Write the opening scene of a thriller set in Oslo',
  ]),
  ...of('extraction', false, [
    'Give me a short summary of this meeting transcript: ...',
    'Pull the company names out of the text below',
    'What are the main points of the following article?',
    'Label each review as happy or angry: 1. great! 2. awful',
    'Return a JSON object with the sender and subject of this mail',
  ]),
  ...of('translation', false, [
    'Translate to Dutch: where can I buy stamps?',
    'What is the Spanish word for umbrella?',
    'Übersetze ins Englische: Ich habe Hunger',
    'Say "I love you" in Korean',
  ]),
  ...of('chat', false, [
    'hey there',
    'What is the tallest mountain in Africa?',
    'Should I get a dog or a cat?',
    'Tell me about the French revolution',
    'How do I remove a coffee stain from a shirt?',
    'What is photosynthesis?',
    'I feel sad today',
  ]),
  ...of('chat', true, [
    'Evaluate the strategic implications of demographic decline for pension systems; compare at least three policy responses, weigh evidence and argue for one with its tradeoffs',
  ]),
]
