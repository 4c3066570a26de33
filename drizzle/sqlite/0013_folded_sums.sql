CREATE TABLE `folded` (
	`id` integer PRIMARY KEY NOT NULL,
	`last_row` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO `folded` (`id`, `last_row`) SELECT 1, coalesce(max(rowid), 0) FROM `generations`;--> statement-breakpoint
DROP INDEX `generations_workspace`;--> statement-breakpoint
CREATE TABLE `__new_journal` (
	`generation_id` text PRIMARY KEY NOT NULL,
	`key_hash` text NOT NULL,
	`workspace_id` text NOT NULL,
	`model` text NOT NULL,
	`provider_slug` text NOT NULL,
	`provider_name` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`api_type` text NOT NULL,
	`streamed` integer NOT NULL,
	`is_byok` integer NOT NULL,
	`origin` text NOT NULL,
	`http_referer` text NOT NULL,
	`title` text NOT NULL,
	`user_agent` text NOT NULL,
	`request_id` text NOT NULL,
	`session_id` text,
	`external_user` text,
	`started_at` integer NOT NULL,
	`prompt_tokens_estimate` integer NOT NULL,
	`prompt_cost_nano_usd` integer NOT NULL,
	`charged_scopes` text,
	`labels` text
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_journal` (`generation_id`, `key_hash`, `workspace_id`, `model`, `provider_slug`, `provider_name`, `endpoint_id`, `api_type`, `streamed`, `is_byok`, `origin`, `http_referer`, `title`, `user_agent`, `request_id`, `session_id`, `external_user`, `started_at`, `prompt_tokens_estimate`, `prompt_cost_nano_usd`, `charged_scopes`, `labels`) SELECT `generation_id`, `key_hash`, `workspace_id`, `model`, `provider_slug`, `provider_name`, `endpoint_id`, `api_type`, `streamed`, `is_byok`, `origin`, `http_referer`, `title`, `user_agent`, `request_id`, `session_id`, `external_user`, `started_at`, `prompt_tokens_estimate`, `prompt_cost_nano_usd`, `charged_scopes`, `labels` FROM `journal`;--> statement-breakpoint
DROP TABLE `journal`;--> statement-breakpoint
ALTER TABLE `__new_journal` RENAME TO `journal`;