CREATE TABLE "pruned_charges" (
	"scope" text NOT NULL,
	"scope_id" text NOT NULL,
	"day" bigint NOT NULL,
	"usage_nano_usd" bigint DEFAULT 0 NOT NULL,
	"byok_usage_nano_usd" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "pruned_charges_scope_scope_id_day_pk" PRIMARY KEY("scope","scope_id","day")
);
--> statement-breakpoint
CREATE TABLE "pruned_hourly" (
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
	CONSTRAINT "pruned_hourly_hour_workspace_id_key_hash_user_id_model_provider_slug_provider_name_endpoint_id_is_byok_pk" PRIMARY KEY("hour","workspace_id","key_hash","user_id","model","provider_slug","provider_name","endpoint_id","is_byok")
);
