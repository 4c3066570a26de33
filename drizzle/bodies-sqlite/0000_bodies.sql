CREATE TABLE `response_items` (
	`workspace_id` text NOT NULL,
	`item_id` text NOT NULL,
	`response_id` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `item_id`, `response_id`),
	FOREIGN KEY (`response_id`) REFERENCES `responses`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `response_items_response` ON `response_items` (`response_id`);--> statement-breakpoint
CREATE TABLE `response_parts` (
	`response_id` text NOT NULL,
	`part` text NOT NULL,
	`first` integer NOT NULL,
	`last` integer NOT NULL,
	`clear_bytes` integer NOT NULL,
	`sealed` blob NOT NULL,
	PRIMARY KEY(`response_id`, `part`, `first`),
	FOREIGN KEY (`response_id`) REFERENCES `responses`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `responses` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`key_hash` text NOT NULL,
	`generation_id` text NOT NULL,
	`status` text NOT NULL,
	`model` text NOT NULL,
	`previous_response_id` text,
	`background` integer NOT NULL,
	`streamed` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `responses_expiry` ON `responses` (`expires_at`);--> statement-breakpoint
CREATE INDEX `responses_status` ON `responses` (`status`);