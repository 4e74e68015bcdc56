//! Our values in the server's terms.

use anyhow::{Result, bail};
use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::row::{Row, Value};

/// A row that the server sent.
pub(super) fn row(row: &tokio_postgres::Row) -> Result<Row> {
    let value = |(at, column): (usize, &tokio_postgres::Column)| {
        Ok(match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map_or(Value::Null, Value::Int),
            Type::INT4 => row.try_get::<_, Option<i32>>(at)?.map_or(Value::Null, |int| Value::Int(int.into())),
            Type::TEXT | Type::VARCHAR => row.try_get::<_, Option<String>>(at)?.map_or(Value::Null, Value::Text),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at)?.map_or(Value::Null, Value::Blob),
            ref other => bail!("unsupported column type {other}"),
        })
    };
    Ok(Row(row.columns().iter().enumerate().map(value).collect::<Result<_>>()?))
}

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(int) if *ty == Type::INT4 => i32::try_from(*int)?.to_sql(ty, out),
            Self::Int(int) => int.to_sql(&Type::INT8, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Blob(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
