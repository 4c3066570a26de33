PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_usage_daily` (
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
	PRIMARY KEY(`day`, `model`, `endpoint_id`, `provider_name`, `workspace_id`, `provider_slug`, `is_byok`, `key_hash`, `user_id`)
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_usage_daily`("day", "workspace_id", "key_hash", "user_id", "model", "provider_slug", "provider_name", "endpoint_id", "is_byok", "requests", "failed_requests", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens", "usage_nano_usd", "byok_usage_nano_usd") SELECT "day", "workspace_id", "key_hash", "user_id", "model", "provider_slug", "provider_name", "endpoint_id", "is_byok", "requests", "failed_requests", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens", "usage_nano_usd", "byok_usage_nano_usd" FROM `usage_daily`;--> statement-breakpoint
DROP TABLE `usage_daily`;--> statement-breakpoint
ALTER TABLE `__new_usage_daily` RENAME TO `usage_daily`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE INDEX `usage_daily_workspace` ON `usage_daily` (`workspace_id`,`day`);--> statement-breakpoint
CREATE INDEX `usage_daily_key` ON `usage_daily` (`key_hash`,`day`);