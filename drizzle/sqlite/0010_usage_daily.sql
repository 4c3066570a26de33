CREATE TABLE `usage_daily` (
	`day` integer NOT NULL,
	`workspace_id` text NOT NULL,
	`key_hash` text NOT NULL,
	`user_id` text NOT NULL,
	`model` text NOT NULL,
	`provider_slug` text NOT NULL,
	`provider_name` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`is_byok` integer NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`failed_requests` integer DEFAULT 0 NOT NULL,
	`prompt_tokens` integer DEFAULT 0 NOT NULL,
	`completion_tokens` integer DEFAULT 0 NOT NULL,
	`reasoning_tokens` integer DEFAULT 0 NOT NULL,
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`usage_nano_usd` integer DEFAULT 0 NOT NULL,
	`byok_usage_nano_usd` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`day`, `model`, `endpoint_id`, `provider_name`, `provider_slug`, `is_byok`, `workspace_id`, `key_hash`, `user_id`)
);
--> statement-breakpoint
CREATE INDEX `usage_daily_workspace` ON `usage_daily` (`workspace_id`,`day`);--> statement-breakpoint
CREATE INDEX `usage_daily_key` ON `usage_daily` (`key_hash`,`day`);