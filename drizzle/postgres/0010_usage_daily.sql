CREATE TABLE "usage_daily" (
	"day" bigint NOT NULL,
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
	CONSTRAINT "usage_daily_day_model_endpoint_id_provider_name_provider_slug_is_byok_workspace_id_key_hash_user_id_pk" PRIMARY KEY("day","model","endpoint_id","provider_name","provider_slug","is_byok","workspace_id","key_hash","user_id")
);
--> statement-breakpoint
CREATE INDEX "usage_daily_workspace" ON "usage_daily" USING btree ("workspace_id","day");--> statement-breakpoint
CREATE INDEX "usage_daily_key" ON "usage_daily" USING btree ("key_hash","day");