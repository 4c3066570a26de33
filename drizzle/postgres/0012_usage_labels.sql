CREATE TABLE "pruned_labels" (
	"day" bigint NOT NULL,
	"name" text NOT NULL,
	"value" text NOT NULL,
	"model" text NOT NULL,
	"endpoint_id" text NOT NULL,
	"provider_name" text NOT NULL,
	"key_hash" text NOT NULL,
	"workspace_id" text NOT NULL,
	"user_id" text NOT NULL,
	"requests" bigint DEFAULT 0 NOT NULL,
	"failed_requests" bigint DEFAULT 0 NOT NULL,
	"prompt_tokens" bigint DEFAULT 0 NOT NULL,
	"completion_tokens" bigint DEFAULT 0 NOT NULL,
	"reasoning_tokens" bigint DEFAULT 0 NOT NULL,
	"cached_tokens" bigint DEFAULT 0 NOT NULL,
	"usage_nano_usd" bigint DEFAULT 0 NOT NULL,
	"byok_usage_nano_usd" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "pruned_labels_day_name_value_model_endpoint_id_provider_name_key_hash_workspace_id_user_id_pk" PRIMARY KEY("day","name","value","model","endpoint_id","provider_name","key_hash","workspace_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "usage_labels" (
	"day" bigint NOT NULL,
	"name" text NOT NULL,
	"value" text NOT NULL,
	"model" text NOT NULL,
	"endpoint_id" text NOT NULL,
	"provider_name" text NOT NULL,
	"key_hash" text NOT NULL,
	"workspace_id" text NOT NULL,
	"user_id" text NOT NULL,
	"requests" bigint DEFAULT 0 NOT NULL,
	"failed_requests" bigint DEFAULT 0 NOT NULL,
	"prompt_tokens" bigint DEFAULT 0 NOT NULL,
	"completion_tokens" bigint DEFAULT 0 NOT NULL,
	"reasoning_tokens" bigint DEFAULT 0 NOT NULL,
	"cached_tokens" bigint DEFAULT 0 NOT NULL,
	"usage_nano_usd" bigint DEFAULT 0 NOT NULL,
	"byok_usage_nano_usd" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "usage_labels_day_name_value_model_endpoint_id_provider_name_key_hash_workspace_id_user_id_pk" PRIMARY KEY("day","name","value","model","endpoint_id","provider_name","key_hash","workspace_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "used_day" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "generations" ADD COLUMN "labels" jsonb;--> statement-breakpoint
ALTER TABLE "journal" ADD COLUMN "labels" jsonb;--> statement-breakpoint
UPDATE "apps" SET "used_day" = extract(epoch from now())::bigint / 86400 * 86400000;
