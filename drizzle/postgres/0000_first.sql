CREATE TABLE "api_keys" (
	"hash" text PRIMARY KEY NOT NULL,
	"id" bigint NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"label" text NOT NULL,
	"disabled" boolean DEFAULT false NOT NULL,
	"limit_nano_usd" bigint,
	"limit_reset" text,
	"include_byok_in_limit" boolean DEFAULT false NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"creator_user_id" text NOT NULL,
	"external_user" text,
	"workspace_id" text NOT NULL,
	"bootstrap" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "meta" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "provider_credentials" (
	"id" text PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	"name" text NOT NULL,
	"label" text NOT NULL,
	"sealed_secret" text NOT NULL,
	"base_url" text,
	"disabled" boolean DEFAULT false NOT NULL,
	"sort_order" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"name" text NOT NULL,
	"email" text,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"description" text,
	"default_guardrail_id" text NOT NULL,
	"default_image_model" text,
	"default_text_model" text,
	"default_provider_sort" text,
	"disabled_server_tools" jsonb,
	"include_byok_in_budgets" boolean DEFAULT false NOT NULL,
	"io_logging_api_key_ids" jsonb,
	"io_logging_sampling_rate" double precision DEFAULT 1 NOT NULL,
	"is_data_discount_logging_enabled" boolean DEFAULT false NOT NULL,
	"is_observability_broadcast_enabled" boolean DEFAULT false NOT NULL,
	"is_observability_io_logging_enabled" boolean DEFAULT false NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "apps" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"origin" text NOT NULL,
	"title" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "generations" (
	"id" text PRIMARY KEY NOT NULL,
	"request_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"key_hash" text NOT NULL,
	"user_id" text NOT NULL,
	"app_id" bigint,
	"model" text NOT NULL,
	"provider_slug" text NOT NULL,
	"provider_name" text NOT NULL,
	"endpoint_id" text NOT NULL,
	"upstream_id" text,
	"api_type" text NOT NULL,
	"router" text NOT NULL,
	"service_tier" text,
	"data_region" text DEFAULT 'global' NOT NULL,
	"preset_id" text,
	"streamed" boolean NOT NULL,
	"cancelled" boolean NOT NULL,
	"is_byok" boolean NOT NULL,
	"finish_reason" text NOT NULL,
	"native_finish_reason" text,
	"origin" text NOT NULL,
	"http_referer" text NOT NULL,
	"title" text NOT NULL,
	"user_agent" text NOT NULL,
	"external_user" text,
	"session_id" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone NOT NULL,
	"latency_ms" double precision NOT NULL,
	"generation_time_ms" double precision NOT NULL,
	"moderation_latency_ms" double precision,
	"tokens_prompt" bigint NOT NULL,
	"tokens_completion" bigint NOT NULL,
	"native_tokens_prompt" bigint NOT NULL,
	"native_tokens_completion" bigint NOT NULL,
	"native_tokens_cached" bigint NOT NULL,
	"native_tokens_cache_write" bigint NOT NULL,
	"native_tokens_prompt_audio" bigint NOT NULL,
	"native_tokens_prompt_images" bigint NOT NULL,
	"native_tokens_reasoning" bigint NOT NULL,
	"native_tokens_completion_audio" bigint NOT NULL,
	"native_tokens_completion_images" bigint NOT NULL,
	"num_input_audio_prompt" bigint DEFAULT 0 NOT NULL,
	"num_media_prompt" bigint DEFAULT 0 NOT NULL,
	"num_media_completion" bigint DEFAULT 0 NOT NULL,
	"num_search_results" bigint DEFAULT 0 NOT NULL,
	"num_fetches" bigint,
	"web_search_engine" text,
	"response_cache_source_id" text,
	"usage_source" text NOT NULL,
	"estimated" boolean NOT NULL,
	"cost_nano_usd" bigint NOT NULL,
	"upstream_cost_nano_usd" bigint,
	"cache_discount_nano_usd" bigint,
	"provider_responses" jsonb,
	"charged_scopes" jsonb
);
--> statement-breakpoint
CREATE TABLE "journal" (
	"generation_id" text PRIMARY KEY NOT NULL,
	"key_hash" text NOT NULL,
	"workspace_id" text NOT NULL,
	"model" text NOT NULL,
	"provider_slug" text NOT NULL,
	"provider_name" text NOT NULL,
	"endpoint_id" text NOT NULL,
	"api_type" text NOT NULL,
	"streamed" boolean NOT NULL,
	"is_byok" boolean NOT NULL,
	"origin" text NOT NULL,
	"http_referer" text NOT NULL,
	"title" text NOT NULL,
	"user_agent" text NOT NULL,
	"request_id" text NOT NULL,
	"session_id" text,
	"external_user" text,
	"started_at" timestamp (3) with time zone NOT NULL,
	"prompt_tokens_estimate" bigint NOT NULL,
	"prompt_cost_nano_usd" bigint NOT NULL,
	"charged_scopes" jsonb
);
--> statement-breakpoint
CREATE TABLE "spending" (
	"scope" text NOT NULL,
	"scope_id" text NOT NULL,
	"interval" text NOT NULL,
	"window_start" bigint NOT NULL,
	"usage_nano_usd" bigint DEFAULT 0 NOT NULL,
	"byok_usage_nano_usd" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "spending_scope_scope_id_interval_window_start_pk" PRIMARY KEY("scope","scope_id","interval","window_start")
);
--> statement-breakpoint
CREATE TABLE "usage_hourly" (
	"hour" bigint NOT NULL,
	"workspace_id" text NOT NULL,
	"key_hash" text NOT NULL,
	"user_id" text NOT NULL,
	"model" text NOT NULL,
	"provider_slug" text NOT NULL,
	"provider_name" text NOT NULL,
	"endpoint_id" text NOT NULL,
	"is_byok" boolean NOT NULL,
	"requests" bigint DEFAULT 0 NOT NULL,
	"failed_requests" bigint DEFAULT 0 NOT NULL,
	"prompt_tokens" bigint DEFAULT 0 NOT NULL,
	"completion_tokens" bigint DEFAULT 0 NOT NULL,
	"reasoning_tokens" bigint DEFAULT 0 NOT NULL,
	"cached_tokens" bigint DEFAULT 0 NOT NULL,
	"usage_nano_usd" bigint DEFAULT 0 NOT NULL,
	"byok_usage_nano_usd" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "usage_hourly_hour_workspace_id_key_hash_user_id_model_provider_slug_provider_name_endpoint_id_is_byok_pk" PRIMARY KEY("hour","workspace_id","key_hash","user_id","model","provider_slug","provider_name","endpoint_id","is_byok")
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_creator_user_id_users_id_fk" FOREIGN KEY ("creator_user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_id" ON "api_keys" USING btree ("id");--> statement-breakpoint
CREATE INDEX "api_keys_workspace" ON "api_keys" USING btree ("workspace_id","created_at");--> statement-breakpoint
CREATE INDEX "api_keys_creator" ON "api_keys" USING btree ("creator_user_id");--> statement-breakpoint
CREATE INDEX "provider_credentials_provider" ON "provider_credentials" USING btree ("provider","sort_order");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email" ON "users" USING btree ("email");--> statement-breakpoint
CREATE INDEX "users_organization" ON "users" USING btree ("organization_id");--> statement-breakpoint
CREATE UNIQUE INDEX "workspaces_slug" ON "workspaces" USING btree ("slug");--> statement-breakpoint
CREATE UNIQUE INDEX "apps_origin_title" ON "apps" USING btree ("origin","title");--> statement-breakpoint
CREATE INDEX "generations_workspace" ON "generations" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "spending_window" ON "spending" USING btree ("interval","window_start");--> statement-breakpoint
CREATE INDEX "usage_hourly_workspace" ON "usage_hourly" USING btree ("workspace_id","hour");--> statement-breakpoint
CREATE INDEX "usage_hourly_key" ON "usage_hourly" USING btree ("key_hash","hour");