CREATE TABLE `pruned_labels` (
	`day` integer NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`model` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`provider_name` text NOT NULL,
	`key_hash` text NOT NULL,
	`workspace_id` text NOT NULL,
	`user_id` text NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`failed_requests` integer DEFAULT 0 NOT NULL,
	`prompt_tokens` integer DEFAULT 0 NOT NULL,
	`completion_tokens` integer DEFAULT 0 NOT NULL,
	`reasoning_tokens` integer DEFAULT 0 NOT NULL,
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`usage_nano_usd` integer DEFAULT 0 NOT NULL,
	`byok_usage_nano_usd` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`day`, `name`, `value`, `model`, `endpoint_id`, `provider_name`, `key_hash`, `workspace_id`, `user_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_labels` (
	`day` integer NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`model` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`provider_name` text NOT NULL,
	`key_hash` text NOT NULL,
	`workspace_id` text NOT NULL,
	`user_id` text NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`failed_requests` integer DEFAULT 0 NOT NULL,
	`prompt_tokens` integer DEFAULT 0 NOT NULL,
	`completion_tokens` integer DEFAULT 0 NOT NULL,
	`reasoning_tokens` integer DEFAULT 0 NOT NULL,
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`usage_nano_usd` integer DEFAULT 0 NOT NULL,
	`byok_usage_nano_usd` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`day`, `name`, `value`, `model`, `endpoint_id`, `provider_name`, `key_hash`, `workspace_id`, `user_id`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `apps` ADD `used_day` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `generations` ADD `labels` text;--> statement-breakpoint
ALTER TABLE `journal` ADD `labels` text;--> statement-breakpoint
UPDATE `apps` SET `used_day` = unixepoch() / 86400 * 86400000;
