CREATE TABLE `api_keys` (
	`hash` text PRIMARY KEY NOT NULL,
	`id` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`label` text NOT NULL,
	`disabled` integer DEFAULT false NOT NULL,
	`limit_nano_usd` integer,
	`limit_reset` text,
	`include_byok_in_limit` integer DEFAULT false NOT NULL,
	`expires_at` integer,
	`creator_user_id` text NOT NULL,
	`external_user` text,
	`workspace_id` text NOT NULL,
	`bootstrap` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer,
	`deleted_at` integer,
	FOREIGN KEY (`creator_user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_id` ON `api_keys` (`id`);--> statement-breakpoint
CREATE INDEX `api_keys_workspace` ON `api_keys` (`workspace_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `api_keys_creator` ON `api_keys` (`creator_user_id`);--> statement-breakpoint
CREATE TABLE `meta` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer
);
--> statement-breakpoint
CREATE TABLE `provider_credentials` (
	`id` text PRIMARY KEY NOT NULL,
	`provider` text NOT NULL,
	`name` text NOT NULL,
	`label` text NOT NULL,
	`sealed_secret` text NOT NULL,
	`base_url` text,
	`disabled` integer DEFAULT false NOT NULL,
	`sort_order` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer
);
--> statement-breakpoint
CREATE INDEX `provider_credentials_provider` ON `provider_credentials` (`provider`,`sort_order`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`email` text,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer,
	`deleted_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`email`);--> statement-breakpoint
CREATE INDEX `users_organization` ON `users` (`organization_id`);--> statement-breakpoint
CREATE TABLE `workspaces` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`description` text,
	`default_guardrail_id` text NOT NULL,
	`default_image_model` text,
	`default_text_model` text,
	`default_provider_sort` text,
	`disabled_server_tools` text,
	`include_byok_in_budgets` integer DEFAULT false NOT NULL,
	`io_logging_api_key_ids` text,
	`io_logging_sampling_rate` real DEFAULT 1 NOT NULL,
	`is_data_discount_logging_enabled` integer DEFAULT false NOT NULL,
	`is_observability_broadcast_enabled` integer DEFAULT false NOT NULL,
	`is_observability_io_logging_enabled` integer DEFAULT false NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer,
	`deleted_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workspaces_slug` ON `workspaces` (`slug`);--> statement-breakpoint
CREATE TABLE `apps` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`origin` text NOT NULL,
	`title` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `apps_origin_title` ON `apps` (`origin`,`title`);--> statement-breakpoint
CREATE TABLE `generations` (
	`id` text PRIMARY KEY NOT NULL,
	`request_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`key_hash` text NOT NULL,
	`user_id` text NOT NULL,
	`app_id` integer,
	`model` text NOT NULL,
	`provider_slug` text NOT NULL,
	`provider_name` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`upstream_id` text,
	`api_type` text NOT NULL,
	`router` text NOT NULL,
	`service_tier` text,
	`data_region` text DEFAULT 'global' NOT NULL,
	`preset_id` text,
	`streamed` integer NOT NULL,
	`cancelled` integer NOT NULL,
	`is_byok` integer NOT NULL,
	`finish_reason` text NOT NULL,
	`native_finish_reason` text,
	`origin` text NOT NULL,
	`http_referer` text NOT NULL,
	`title` text NOT NULL,
	`user_agent` text NOT NULL,
	`external_user` text,
	`session_id` text,
	`created_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`latency_ms` real NOT NULL,
	`generation_time_ms` real NOT NULL,
	`moderation_latency_ms` real,
	`tokens_prompt` integer NOT NULL,
	`tokens_completion` integer NOT NULL,
	`native_tokens_prompt` integer NOT NULL,
	`native_tokens_completion` integer NOT NULL,
	`native_tokens_cached` integer NOT NULL,
	`native_tokens_cache_write` integer NOT NULL,
	`native_tokens_prompt_audio` integer NOT NULL,
	`native_tokens_prompt_images` integer NOT NULL,
	`native_tokens_reasoning` integer NOT NULL,
	`native_tokens_completion_audio` integer NOT NULL,
	`native_tokens_completion_images` integer NOT NULL,
	`num_input_audio_prompt` integer DEFAULT 0 NOT NULL,
	`num_media_prompt` integer DEFAULT 0 NOT NULL,
	`num_media_completion` integer DEFAULT 0 NOT NULL,
	`num_search_results` integer DEFAULT 0 NOT NULL,
	`num_fetches` integer,
	`web_search_engine` text,
	`response_cache_source_id` text,
	`usage_source` text NOT NULL,
	`estimated` integer NOT NULL,
	`cost_nano_usd` integer NOT NULL,
	`upstream_cost_nano_usd` integer,
	`cache_discount_nano_usd` integer,
	`provider_responses` text,
	`charged_scopes` text
);
--> statement-breakpoint
CREATE INDEX `generations_workspace` ON `generations` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `journal` (
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
	`charged_scopes` text
);
--> statement-breakpoint
CREATE TABLE `spending` (
	`scope` text NOT NULL,
	`scope_id` text NOT NULL,
	`interval` text NOT NULL,
	`window_start` integer NOT NULL,
	`usage_nano_usd` integer DEFAULT 0 NOT NULL,
	`byok_usage_nano_usd` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`scope`, `scope_id`, `interval`, `window_start`)
);
--> statement-breakpoint
CREATE INDEX `spending_window` ON `spending` (`interval`,`window_start`);--> statement-breakpoint
CREATE TABLE `usage_hourly` (
	`hour` integer NOT NULL,
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
	PRIMARY KEY(`hour`, `workspace_id`, `key_hash`, `user_id`, `model`, `provider_slug`, `provider_name`, `endpoint_id`, `is_byok`)
);
--> statement-breakpoint
CREATE INDEX `usage_hourly_workspace` ON `usage_hourly` (`workspace_id`,`hour`);--> statement-breakpoint
CREATE INDEX `usage_hourly_key` ON `usage_hourly` (`key_hash`,`hour`);